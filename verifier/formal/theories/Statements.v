(** What certificates prove. Definitions only, over the real numbers of Dataset.v. *)

From Coq Require Import ZArith List Reals.
From AttSVM Require Import Dataset.
Import ListNotations.
Local Open Scope R_scope.

(** The fraction p / q, and the matrix of integers M over one denominator q. *)
Definition ratio (p : Z) (q : positive) : R := IZR p / IZR (Zpos q).
Definition rational (M : list (list Z)) (q : positive) : matrix :=
  fun a b => ratio (nth b (nth a M []) 0%Z) q.

(** ** Scores *)

(** alpha selects in every sample the one token of the strictly largest score. *)
Definition optimal (D : dataset) (alpha : selection) : Prop :=
  selects D alpha = true /\
  forall i t, rejected D alpha i t -> score D i t < score D i (selected alpha i).

(** In every sample one token has the strictly largest score. *)
Definition unique_optimum (D : dataset) : Prop := exists alpha, optimal D alpha.

(** Token t of sample i has not the largest score. *)
Definition below (D : dataset) (i t : nat) : Prop :=
  (t < count D i)%nat /\ exists s, (s < count D i)%nat /\ score D i t < score D i s.

(** In every sample all tokens below the largest score share one score (B.2). *)
Definition equal_scores (D : dataset) : Prop :=
  forall i t s, (i < size D)%nat -> below D i t -> below D i s -> score D i t = score D i s.

(** In every sample two tokens differ in score. *)
Definition no_flat_sample (D : dataset) : Prop :=
  forall i, (i < size D)%nat ->
  exists t s, (t < count D i)%nat /\ (s < count D i)%nat /\ score D i t <> score D i s.

(** ** Att-SVM(alpha) *)

(** All margins of W are at least 1. *)
Definition separates (D : dataset) (alpha : selection) (W : matrix) : Prop :=
  forall i t, rejected D alpha i t -> 1 <= margin D alpha W i t.

Definition feasible (D : dataset) (alpha : selection) : Prop := exists W, separates D alpha W.

(** No W has all its margins positive, let alone at least 1. *)
Definition infeasible (D : dataset) (alpha : selection) : Prop :=
  ~ exists W, forall i t, rejected D alpha i t -> 0 < margin D alpha W i t.

(** W solves Att-SVM(alpha): it separates, with the least norm, and every other matrix that
    separates has a larger norm. *)
Definition optimum (D : dataset) (alpha : selection) (W : matrix) : Prop :=
  separates D alpha W /\
  forall V, separates D alpha V ->
  norm2 (dim D) W <= norm2 (dim D) V /\
  (norm2 (dim D) V <= norm2 (dim D) W ->
   forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b).

Definition solvable (D : dataset) (alpha : selection) : Prop := exists W, optimum D alpha W.

(** The margin of token t of sample i is 1 at the solution, which is unique. *)
Definition support_index (D : dataset) (alpha : selection) (i t : nat) : Prop :=
  rejected D alpha i t /\ exists W, optimum D alpha W /\ margin D alpha W i t = 1.

(** Att-SVM(alpha) has a solution, and these rows (i, t) are its support indices. *)
Definition support (D : dataset) (alpha : selection) (rows : list (nat * nat)) : Prop :=
  solvable D alpha /\ forall i t, support_index D alpha i t <-> In (i, t) rows.

(** ... and every rejected token is one of them (B.1). *)
Definition all_support (D : dataset) (alpha : selection) : Prop :=
  solvable D alpha /\ forall i t, rejected D alpha i t -> support_index D alpha i t.

(** ... and the selected token scores higher than every support index of its sample. *)
Definition locally_optimal (D : dataset) (alpha : selection) : Prop :=
  solvable D alpha /\
  forall i t, support_index D alpha i t -> score D i t < score D i (selected alpha i).

(** The squared norm of the solution lies between low and high. *)
Definition norm_between (D : dataset) (alpha : selection) (low high : R) : Prop :=
  solvable D alpha /\
  forall W, optimum D alpha W -> low <= norm2 (dim D) W <= high.

(** The solution is within a squared distance of gap of the matrix V, which separates. *)
Definition near_optimum (D : dataset) (alpha : selection) (V : matrix) (gap : R) : Prop :=
  separates D alpha V /\ solvable D alpha /\
  forall W, optimum D alpha W -> distance2 (dim D) V W <= gap.

(** Some K and Q of d rows and m columns give K Qᵀ all margins at least 1. *)
Definition low_rank_feasible (D : dataset) (alpha : selection) (m : nat) : Prop :=
  exists K Q : matrix, separates D alpha (fun a b => sum m (fun k => K a k * Q b k)).

(** ** Features *)

(** Entry a, b of the feature (x_i0 - x_it) z_iᵀ of token t ≥ 1. *)
Definition feature (D : dataset) (i t a b : nat) : R := (x D i 0 a - x D i t a) * z D i b.

(** The features of all i and t ≥ 1 are linearly independent. *)
Definition full_rank (D : dataset) : Prop :=
  forall c : nat -> nat -> R,
  (forall a b, (a < dim D)%nat -> (b < dim D)%nat ->
   sum (size D) (fun i => sum (count D i) (fun t => c i t * feature D i t a b)) = 0) ->
  forall i t, (i < size D)%nat -> (1 <= t < count D i)%nat -> c i t = 0.

Definition every_selection_feasible (D : dataset) : Prop :=
  forall alpha, selects D alpha = true -> feasible D alpha.
