(** * Finite sums, softmax and covariance

    Statement: for logits [h] and scores [g] of [n] tokens let [softmax n h] be the softmax
    weights and [value n h g] the mean of [g] under them.  Along [h + x * k] the value has at
    [x = 0] the derivative [covariance n (softmax n h) k g], the covariance of [k] and [g] under the
    weights, and this covariance is [1/2 sum_t,u s_t s_u (k_t - k_u) (g_t - g_u)].

    Source: docs/theory/stationary.md, section 0 (the two forms of the derivative);
    arXiv 2308.16898 v1, section 2 (the model).  Independent of any dataset. *)

From Coq Require Import Reals Lra Lia.
From AttSVM Require Import Dataset Sums Loss.
Local Open Scope R_scope.

(** ** Finite sums *)

Lemma sum_pos_one : forall n f j,
  (forall t, (t < n)%nat -> 0 <= f t) -> (j < n)%nat -> 0 < f j -> 0 < sum n f.
Proof. intros n f j E J P. apply Rlt_le_trans with (f j); [assumption|apply sum_term; assumption].
Qed.

Lemma sum_product : forall n m f g,
  sum n f * sum m g = sum n (fun t => sum m (fun u => f t * g u)).
Proof.
  intros n m f g. rewrite <- sum_scale_r. apply sum_ext. intros t _.
  rewrite sum_scale. reflexivity.
Qed.

(** ** Softmax *)

Definition value (n : nat) (h g : nat -> R) : R := mean n (softmax n h) g.

Lemma partition_pos : forall n h, (0 < n)%nat -> 0 < partition n h.
Proof.
  intros n h N. apply sum_pos_one with O; auto; intros; [apply Rlt_le|]; apply exp_pos.
Qed.

Lemma softmax_pos : forall n h t, (0 < n)%nat -> 0 < softmax n h t.
Proof. intros. apply Rdiv_lt_0_compat; [apply exp_pos|apply partition_pos; assumption]. Qed.

Lemma softmax_sum : forall n h, (0 < n)%nat -> sum n (softmax n h) = 1.
Proof.
  intros n h N. unfold softmax, Rdiv.
  rewrite sum_scale_r. apply Rinv_r. apply Rgt_not_eq, partition_pos, N.
Qed.

Lemma softmax_deviations : forall n h g, (0 < n)%nat ->
  sum n (fun t => softmax n h t * (g t - mean n (softmax n h) g)) = 0.
Proof.
  intros n h g N.
  rewrite (sum_ext n _ (fun t => softmax n h t * g t - mean n (softmax n h) g * softmax n h t))
    by (intros; ring).
  rewrite sum_minus, sum_scale, softmax_sum by assumption. fold (mean n (softmax n h) g). ring.
Qed.

Lemma mean_ext : forall n s g g',
  (forall t, (t < n)%nat -> g t = g' t) -> mean n s g = mean n s g'.
Proof. intros n s g g' E. apply sum_ext. intros t L. rewrite E by assumption. reflexivity. Qed.

Lemma softmax_ext : forall n h h' t,
  (forall u, (u < n)%nat -> h u = h' u) -> (t < n)%nat -> softmax n h t = softmax n h' t.
Proof.
  intros n h h' t E L. unfold softmax, partition. rewrite (E t L). f_equal.
  apply sum_ext. intros u U. rewrite E by assumption. reflexivity.
Qed.

Lemma value_ext : forall n h h' g g',
  (forall t, (t < n)%nat -> h t = h' t) -> (forall t, (t < n)%nat -> g t = g' t) ->
  value n h g = value n h' g'.
Proof.
  intros n h h' g g' E F. apply sum_ext. intros t L.
  rewrite (softmax_ext n h h') by assumption. rewrite F by assumption. reflexivity.
Qed.

Lemma value_quotient : forall n h g,
  value n h g = sum n (fun t => exp (h t) * g t) / partition n h.
Proof.
  intros n h g. unfold value, mean, softmax, Rdiv. rewrite <- sum_scale_r.
  apply sum_ext. intros t _. ring.
Qed.

(** ** The pair form of the covariance *)

Definition pair_term (s k g : nat -> R) (t u : nat) : R :=
  s t * s u * ((k t - k u) * (g t - g u)).

Theorem covariance_pairs : forall n s k g, sum n s = 1 ->
  covariance n s k g = / 2 * sum n (fun t => sum n (fun u => pair_term s k g t u)).
Proof.
  intros n s k g S1.
  assert (E : sum n (fun t => sum n (fun u => pair_term s k g t u))
              = 2 * (sum n s * mean n s (fun t => k t * g t)) - 2 * (mean n s k * mean n s g)).
  { transitivity
      (sum n (fun t => sum n (fun u =>
         (s t * (k t * g t)) * s u + s t * (s u * (k u * g u))
         - ((s t * k t) * (s u * g u) + (s t * g t) * (s u * k u))))).
    - apply sum_ext; intros t _; apply sum_ext; intros u _; unfold pair_term; ring.
    - rewrite (sum_ext n _ (fun t =>
        (sum n (fun u => (s t * (k t * g t)) * s u) + sum n (fun u => s t * (s u * (k u * g u))))
        - (sum n (fun u => (s t * k t) * (s u * g u))
            + sum n (fun u => (s t * g t) * (s u * k u))))).
      2:{ intros t _. rewrite sum_minus, !sum_plus. reflexivity. }
      rewrite sum_minus, !sum_plus, <- !sum_product. unfold mean. ring. }
  rewrite E, S1. unfold covariance. field.
Qed.

(** A covariance is positive as soon as no pair is discordant and one is concordant. *)
Theorem covariance_positive : forall n s k g,
  sum n s = 1 -> (forall t, (t < n)%nat -> 0 < s t) ->
  (forall t u, (t < n)%nat -> (u < n)%nat -> 0 <= (k t - k u) * (g t - g u)) ->
  0 <= covariance n s k g /\
  (forall t u, (t < n)%nat -> (u < n)%nat -> 0 < (k t - k u) *
    (g t - g u) -> 0 < covariance n s k g).
Proof.
  intros n s k g S1 S H. rewrite covariance_pairs by assumption.
  assert (P : forall t u, (t < n)%nat -> (u < n)%nat -> 0 <= pair_term s k g t u).
  { intros t u T U. apply Rmult_le_pos; [|auto].
    apply Rlt_le, Rmult_lt_0_compat; auto. }
  assert (Q : forall t, (t < n)%nat -> 0 <= sum n (fun u => pair_term s k g t u)).
  { intros t T. apply sum_nonneg. auto. }
  split.
  - apply Rmult_le_pos; [lra|]. apply sum_nonneg. assumption.
  - intros t u T U K. apply Rmult_lt_0_compat; [lra|].
    apply (sum_pos_one n _ t); auto. apply (sum_pos_one n _ u); auto.
    apply Rmult_lt_0_compat; auto. apply Rmult_lt_0_compat; auto.
Qed.

(** ** Derivatives *)

Lemma derivable_pt_lim_same : forall f g x l,
  (forall y, f y = g y) -> derivable_pt_lim f x l -> derivable_pt_lim g x l.
Proof.
  intros f g x l E D eps He. destruct (D eps He) as [d Hd]. exists d.
  intros h Hh Hd'. rewrite <- !E. apply Hd; assumption.
Qed.

Lemma derivable_pt_lim_sum : forall n (f : nat -> R -> R) x l,
  (forall t, (t < n)%nat -> derivable_pt_lim (f t) x (l t)) ->
  derivable_pt_lim (fun y => sum n (fun t => f t y)) x (sum n l).
Proof.
  induction n as [|n IH]; intros f x l H; simpl.
  - apply derivable_pt_lim_const.
  - apply (derivable_pt_lim_plus (fun y => sum n (fun t => f t y)) (f n)); auto with arith.
Qed.

Lemma derivable_pt_lim_affine : forall a b x, derivable_pt_lim (fun y => a + y * b) x b.
Proof.
  intros a b x eps He. exists (mkposreal 1 Rlt_0_1). intros h Hh _.
  replace ((a + (x + h) * b - (a + x * b)) / h - b) with 0 by (field; assumption).
  rewrite Rabs_R0. assumption.
Qed.

Lemma derivable_pt_lim_exp_affine : forall a b,
  derivable_pt_lim (fun x => exp (a + x * b)) 0 (exp a * b).
Proof.
  intros a b.
  replace (exp a * b) with (exp (a + 0 * b) * b) by (f_equal; f_equal; ring).
  apply (derivable_pt_lim_comp (fun x => a + x * b) exp).
  - apply derivable_pt_lim_affine.
  - apply derivable_pt_lim_exp.
Qed.

(** The value of a sample along a line of logits. *)
Theorem value_derivative : forall n h k g, (0 < n)%nat ->
  derivable_pt_lim (fun x => value n (fun t => h t + x * k t) g) 0
                   (covariance n (softmax n h) k g).
Proof.
  intros n h k g N.
  set (num := fun x => sum n (fun t => exp (h t + x * k t) * g t)).
  set (den := fun x => partition n (fun t => h t + x * k t)).
  apply (derivable_pt_lim_same (fun x => num x / den x)).
  { intros x. unfold num, den. rewrite value_quotient. reflexivity. }
  assert (D0 : den 0 = partition n h).
  { unfold den, partition. apply sum_ext. intros t _. f_equal. ring. }
  assert (N0 : num 0 = sum n (fun t => exp (h t) * g t)).
  { unfold num. apply sum_ext. intros t _. f_equal. f_equal. ring. }
  assert (DP := partition_pos n h N).
  assert (Dnum : derivable_pt_lim num 0 (sum n (fun t => exp (h t) * k t * g t))).
  { unfold num. apply (derivable_pt_lim_sum n (fun t x => exp (h t + x * k t) * g t)).
    intros t _.
    replace (exp (h t) * k t * g t) with (exp (h t) * k t * g t + exp (h t + 0 * k t) * 0) by ring.
    apply (derivable_pt_lim_mult (fun x => exp (h t + x * k t)) (fun _ => g t)).
    - apply derivable_pt_lim_exp_affine.
    - apply derivable_pt_lim_const. }
  assert (Dden : derivable_pt_lim den 0 (sum n (fun t => exp (h t) * k t))).
  { unfold den, partition. apply (derivable_pt_lim_sum n (fun t x => exp (h t + x * k t))).
    intros t _. apply derivable_pt_lim_exp_affine. }
  assert (D := derivable_pt_lim_div num den 0 _ _ Dnum Dden).
  rewrite D0, N0 in D. specialize (D (Rgt_not_eq _ _ DP)).
  unfold div_fct in D.
  assert (M : forall q, mean n (softmax n h) q = sum n (fun t => exp (h t) * q t) / partition n h).
  { intros q. apply (value_quotient n h q). }
  assert (E : covariance n (softmax n h) k g =
    (sum n (fun t => exp (h t) * k t * g t) * partition n h
     - sum n (fun t => exp (h t) * k t) * sum n (fun t => exp (h t) * g t)) / (partition n h)²).
  { unfold covariance. rewrite !M.
    rewrite (sum_ext n (fun t => exp (h t) * (k t * g t)) (fun t => exp (h t) * k t * g t))
      by (intros; ring).
    unfold Rsqr. field. apply Rgt_not_eq, DP. }
  rewrite E. exact D.
Qed.
