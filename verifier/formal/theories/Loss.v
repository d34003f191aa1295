(** * The training loss

    Definitions only: with Dataset.v all that a reader must understand to know what the theorems
    of LossFacts.v and Monotone.v say; those of Basin.v and Trap.v add the conditions of
    BasinConditions.v and TrapConditions.v.

    The loss of a matrix W is L(W) = 1/n sum_i l(f_i(W)) with f_i(W) = sum_t s_it gamma_it, where
    s_i is the softmax of the logits of sample i, gamma_it its scores, and l any differentiable
    function with negative derivative.  A slope of L is the derivative of t -> L(W + t V) at t = 0,
    as a limit; W is stationary if all its slopes are 0.  The inner product of matrices, [inner],
    is that of Sums.v.

    Source: arXiv 2308.16898 v1, section 2; docs/theory/geometry.md, section 0. *)

From Coq Require Import Reals.
From AttSVM Require Import Dataset Sums.
Local Open Scope R_scope.

(** ** Softmax of the n logits h, mean and covariance under n weights s *)

Definition partition (n : nat) (h : nat -> R) : R := sum n (fun t => exp (h t)).

Definition softmax (n : nat) (h : nat -> R) (t : nat) : R := exp (h t) / partition n h.

Definition mean (n : nat) (s g : nat -> R) : R := sum n (fun t => s t * g t).

Definition covariance (n : nat) (s k g : nat -> R) : R :=
  mean n s (fun t => k t * g t) - mean n s k * mean n s g.

(** ** Losses *)

(** [dl] is the derivative of [l] and negative. *)
Definition decreasing_loss (l dl : R -> R) : Prop :=
  forall u, derivable_pt_lim l u (dl u) /\ dl u < 0.

Definition logistic (u : R) : R := ln (1 + exp (- u)).
Definition logistic' (u : R) : R := - (exp (- u) / (1 + exp (- u))).
Definition exponential (u : R) : R := exp (- u).
Definition exponential' (u : R) : R := - exp (- u).
Definition correlation (u : R) : R := - u.
Definition correlation' (_ : R) : R := - 1.

(** [dl] and [ddl] are the first and the second derivative of [l], and [dl] is negative. *)
Definition smooth_loss (l dl ddl : R -> R) : Prop :=
  decreasing_loss l dl /\ forall u, derivable_pt_lim dl u (ddl u).

Definition logistic'' (u : R) : R := exp (- u) / ((1 + exp (- u)) * (1 + exp (- u))).
Definition exponential'' (u : R) : R := exp (- u).
Definition correlation'' (_ : R) : R := 0.

(** ** The loss of a matrix *)

(** The softmax weight s_it. *)
Definition weight (D : dataset) (W : matrix) (i : nat) : nat -> R :=
  softmax (count D i) (logit D W i).

(** The output f_i(W) of the layer on sample i, times its label. *)
Definition output (D : dataset) (W : matrix) (i : nat) : R :=
  mean (count D i) (weight D W i) (score D i).

Definition loss (l : R -> R) (D : dataset) (W : matrix) : R :=
  / INR (size D) * sum (size D) (fun i => l (output D W i)).

(** ** Derivatives *)

(** W + t V. *)
Definition along (W : matrix) (t : R) (V : matrix) : matrix := fun a b => W a b + t * V a b.

(** The derivative of F at W in the direction V is r. *)
Definition slope (F : matrix -> R) (W V : matrix) (r : R) : Prop :=
  derivable_pt_lim (fun t => F (along W t V)) 0 r.

Definition stationary (F : matrix -> R) (W : matrix) : Prop := forall V, slope F W V 0.

(** G is the gradient of F at W. *)
Definition gradient_at (d : nat) (F : matrix -> R) (W G : matrix) : Prop :=
  forall V, slope F W V (inner d G V).

(** The right side of formula (G), and the entries of the gradient. *)
Definition slope_formula (dl : R -> R) (D : dataset) (W V : matrix) : R :=
  / INR (size D) * sum (size D) (fun i =>
    dl (output D W i) * covariance (count D i) (weight D W i) (logit D V i) (score D i)).

Definition gradient (dl : R -> R) (D : dataset) (W : matrix) : matrix := fun a b =>
  / INR (size D) * sum (size D) (fun i => dl (output D W i) *
    sum (count D i) (fun t =>
      weight D W i t * (score D i t - output D W i) * (x D i t a * z D i b))).

(** ** Gradient descent *)

Definition norm (d : nat) (W : matrix) : R := sqrt (norm2 d W).

(** W_k tends in direction to M: |W_k| tends to infinity and W_k / |W_k| to M / |M|. *)
Definition converges_in_direction (d : nat) (W : nat -> matrix) (M : matrix) : Prop :=
  cv_infty (fun k => norm d (W k)) /\
  forall p q, (p < d)%nat -> (q < d)%nat ->
  Un_cv (fun k => W k p q / norm d (W k)) (M p q / norm d M).

(** Gradient descent on L with the step sizes eta; G k is the gradient at W k. *)
Definition descent (l : R -> R) (D : dataset) (eta : nat -> R) (W G : nat -> matrix) : Prop :=
  forall k, gradient_at (dim D) (loss l D) (W k) (G k) /\
  forall p q, (p < dim D)%nat -> (q < dim D)%nat -> W (S k) p q = W k p q - eta k * G k p q.
