(** * The cone around a solution of Att-SVM

    Definitions only: the data of a cone certificate for the selection alpha, the numbers derived
    from it, and its conditions (i)-(iv), as they stand in docs/theory/basin.md, "The cone". What
    they imply is stated in BasinCone.v and Basin.v. *)

From Coq Require Import Arith Reals.
From AttSVM Require Import Dataset Statements Sums Margins Loss LossRows.
Local Open Scope R_scope.

(** ** The certificate *)

(** The solution M = sum of multiplier_it phi_it; the rows counted as worse, all others being
    rivals; the clock s and the aperture tau of the cone; bounds of |l'| for every sample; numbers
    at least E and at least the v_it of the worse rows. *)
Record cone : Type := Cone {
  solution : matrix;
  multiplier : nat -> nat -> R;
  worse : nat -> nat -> bool;
  start : R;
  aperture : R;
  slope_low : nat -> R;
  slope_high : nat -> R;
  entropy : R;
  width : R }.

Section Cone.
Variables (D : dataset) (alpha : selection) (c : cone).

Notation d := (dim D).
Notation M := (solution c).
Notation lambda := (multiplier c).
Notation s := (start c).
Notation tau := (aperture c).
Notation Rows := (rows D alpha).

(** W = clock W * M + across W, and across W is orthogonal to M. *)
Definition clock (W : matrix) : R := inner d W M / norm2 d M.
Definition across (W : matrix) : matrix := fun p q => W p q - clock W * M p q.

Definition a_ (i t : nat) : R := margin D alpha M i t.
Definition v_ (i t : nat) : R := norm d (across (phi D alpha i t)).

(** Lower bounds of the margins in the cone, and what follows from them. *)
Definition low (i t : nat) : R := s * (a_ i t - tau * v_ i t).

Definition reach (i : nat) : R :=
  others (count D i) (selected alpha i) (fun t => Rabs (gap D alpha i t) * exp (- low i t)).
Definition floor (i : nat) : R :=
  / (1 + others (count D i) (selected alpha i) (fun t => exp (- low i t))).

Definition c_high (i t : nat) : R := slope_high c i * (gap D alpha i t + reach i).
Definition c_low (i t : nat) : R := slope_low c i * floor i * (gap D alpha i t - reach i).
Definition force (i t : nat) : R := slope_high c i * (Rabs (gap D alpha i t) + reach i).

(** The lower bound Z; a row without multiplier adds nothing. *)
Definition share (i t : nat) : R := lambda i t / norm2 d M.
Definition log_Z : R := Rows (fun i t => share i t * ln (c_low i t / share i t)).
Definition Z : R := exp log_Z.

Definition on_worse (f : nat -> nat -> R) : R := Rows (fun i t => if worse c i t then f i t else 0).
Definition on_rivals (f : nat -> nat -> R) : R
  := Rows (fun i t => if worse c i t then 0 else f i t).

(** How far the margin of a rival exceeds the clock, at the least, per unit of clock. *)
Definition lead (i t : nat) : R := a_ i t - 1 - tau * v_ i t.
Definition A_ (i t : nat) : R := force i t * exp (- (s * lead i t)) / Z.
Definition eps_a : R := on_rivals (fun i t => A_ i t * a_ i t).
Definition eps_v : R := on_rivals (fun i t => A_ i t * v_ i t).

(** The cone. *)
Definition in_cone (W : matrix) : Prop :=
  s <= clock W /\ norm d (across W) <= tau * clock W.

(** M solves Att-SVM(alpha): the Karush-Kuhn-Tucker conditions. *)
Definition kkt : Prop :=
  (forall p q, (p < d)%nat -> (q < d)%nat -> M p q
    = Rows (fun i t => lambda i t * phi D alpha i t p q))
  /\ forall i t, rejected D alpha i t ->
     1 <= a_ i t /\ 0 <= lambda i t /\ lambda i t * (a_ i t - 1) = 0.

Record cone_conditions (dl : R -> R) : Prop := {
  cone_kkt : kkt;
  cone_solution : 0 < norm2 d M;
  cone_start : 0 < s;
  cone_aperture : 0 < tau;
  cone_slopes_bounded : forall i u, (i < size D)%nat ->
    Rabs (score D i (selected alpha i) - u) <= reach i ->
    0 < slope_low c i <= - dl u /\ - dl u <= slope_high c i;
  cone_i : forall i t, rejected D alpha i t -> 0 < a_ i t - tau * v_ i t;
  cone_ii : forall i t, rejected D alpha i t -> worse c i t = false -> 1 < s * lead i t;
  cone_iii : forall i t, rejected D alpha i t -> worse c i t = true -> reach i < gap D alpha i t;
  cone_support : forall i t, rejected D alpha i t -> worse c i t = false -> lambda i t = 0;
  cone_iv : eps_a < 1;
  cone_entropy : 0 <= entropy c /\
    on_worse (fun i t => c_high i t * exp (- (s * (a_ i t - 1)))) <= Z * exp (entropy c);
  cone_width : 0 <= width c /\
    forall i t, rejected D alpha i t -> worse c i t = true -> v_ i t <= width c }.

End Cone.
