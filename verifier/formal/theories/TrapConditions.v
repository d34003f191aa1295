(** * Conditions of the low-norm limit

    Definitions only: bounds of the scores, of the derivatives of the loss and of the data, the
    smoothness constant beta and the infimum of the loss.

    Source: docs/theory/global_limits.md, "Setting" and "Smoothness". *)

From Coq Require Import Reals.
From AttSVM Require Import Dataset Statements Loss.
Local Open Scope R_scope.

(** Att-SVM(alpha) has a solution M, |W_k| tends to infinity, and W_k / |W_k| to M / |M|. *)
Definition converges_to_solution (D : dataset) (alpha : selection) (W : nat -> matrix) : Prop :=
  exists M, optimum D alpha M /\ converges_in_direction (dim D) W M.

(** Gradient descent on L with the constant step eta from W0, any path of it, ... *)
Definition from_start (l : R -> R) (D : dataset) (W0 : matrix) (eta : R)
    (conclusion : (nat -> matrix) -> Prop) : Prop :=
  forall W G, descent l D (fun _ => eta) W G ->
  (forall p q, (p < dim D)%nat -> (q < dim D)%nat -> W 0%nat p q = W0 p q) -> conclusion W.

(** ... converges in direction to the solution for alpha, which selects the largest scores; *)
Definition limit_from (l : R -> R) (D : dataset) (alpha : selection) (W0 : matrix) (eta : R)
    : Prop :=
  optimal D alpha /\ from_start l D W0 eta (converges_to_solution D alpha).

(** ... keeps every optimal token above the weight 1/2 and every margin positive, and its norm
    increases. *)
Definition trapped (D : dataset) (alpha : selection) (W : nat -> matrix) : Prop :=
  forall k, (forall i, (i < size D)%nat -> / 2 < weight D (W k) i (selected alpha i)) /\
            (forall i t, rejected D alpha i t -> 0 < margin D alpha (W k) i t) /\
            norm (dim D) (W k) < norm (dim D) (W (S k)).

Definition trapped_from (l : R -> R) (D : dataset) (alpha : selection) (W0 : matrix) (eta : R)
    : Prop :=
  optimal D alpha /\ feasible D alpha /\
  from_start l D W0 eta (fun W => converges_to_solution D alpha W /\ trapped D alpha W).

(** Numbers about the scores of every sample: a lower bound of them all, the second largest (or
    more), bounds of |l'| and |l''| on the range of the scores, and of |(x_it - x_iu) z_i^T|. *)
Record score_bounds : Type := ScoreBounds {
  lowest : nat -> R;
  second : nat -> R;
  first_derivative : nat -> R;
  second_derivative : nat -> R;
  diameter : nat -> R }.

Section Trap.
Variables (D : dataset) (alpha : selection) (b : score_bounds).

Notation d := (dim D).
Notation n := (INR (size D)).

Definition top (i : nat) : R := score D i (selected alpha i).

Record bounded (dl ddl : R -> R) : Prop := {
  lowest_score : forall i t, (i < size D)%nat -> (t < count D i)%nat -> lowest b i <= score D i t;
  second_score : forall i t, rejected D alpha i t -> score D i t <= second b i;
  second_below : forall i, (i < size D)%nat -> second b i < top i;
  bounded_first : forall i u, (i < size D)%nat -> lowest b i <= u <= top i ->
    - dl u <= first_derivative b i;
  bounded_second : forall i u, (i < size D)%nat -> lowest b i <= u <= top i ->
    Rabs (ddl u) <= second_derivative b i;
  bounded_diameter : forall i t u, (i < size D)%nat -> (t < count D i)%nat -> (u < count D i)%nat ->
    norm d (fun p q => (x D i t p - x D i u p) * z D i q) <= diameter b i }.

Definition beta : R := / n * sum (size D) (fun i =>
  diameter b i * diameter b i / 4 *
  ((top i - lowest b i) * first_derivative b i
   + (top i - lowest b i) * (top i - lowest b i) * second_derivative b i / 4)).

(** The infimum of the loss. *)
Definition loss_star (l : R -> R) : R := / n * sum (size D) (fun i => l (top i)).

End Trap.
