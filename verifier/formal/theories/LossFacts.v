(** * The derivative of the training loss

    Statement: for every dataset and every loss l with l' < 0 (the logistic, the exponential and
    the correlation loss are such) L has a slope at every W in every direction V, and it is
    formula (G), 1/n sum_i l'(f_i) Cov_{s_i}(h_i, gamma_i) with h_it the logits of V; the matrix
    [gradient] is its gradient.  If (h_it - h_iu)(gamma_it - gamma_iu) >= 0 for all i, t, u,
    and > 0 for one of them, the slope is negative.

    Source: docs/theory/stationary.md, section 0; arXiv 2308.16898 v1, section 2. *)

From Coq Require Import Reals Lra Lia.
From AttSVM Require Import Dataset Sums Margins Loss Analysis.
Local Open Scope R_scope.

Lemma derivable_pt_lim_exp_minus : forall u,
  derivable_pt_lim (fun y => exp (- y)) u (- exp (- u)).
Proof.
  intros u. replace (- exp (- u)) with (exp (- u) * - 1) by ring.
  apply (derivable_pt_lim_comp Ropp exp).
  - apply (derivable_pt_lim_same (fun y => 0 + y * -1)); [intros; ring|].
    apply derivable_pt_lim_affine.
  - apply derivable_pt_lim_exp.
Qed.

Theorem logistic_decreasing : decreasing_loss logistic logistic'.
Proof.
  intros u. assert (E := exp_pos (- u)). unfold logistic, logistic'. split.
  - replace (- (exp (- u) / (1 + exp (- u)))) with (/ (1 + exp (- u)) * (- exp (- u)))
      by (field; lra).
    apply (derivable_pt_lim_comp (fun y => 1 + exp (- y)) ln).
    + replace (- exp (- u)) with (0 + - exp (- u)) by ring.
      apply (derivable_pt_lim_plus (fun _ => 1) (fun y => exp (- y))).
      * apply derivable_pt_lim_const.
      * apply derivable_pt_lim_exp_minus.
    + apply derivable_pt_lim_ln. lra.
  - apply Ropp_lt_gt_0_contravar, Rlt_gt, Rdiv_lt_0_compat; lra.
Qed.

Theorem exponential_decreasing : decreasing_loss exponential exponential'.
Proof.
  intros u. split.
  - apply derivable_pt_lim_exp_minus.
  - assert (E := exp_pos (- u)). unfold exponential'. lra.
Qed.

Theorem correlation_decreasing : decreasing_loss correlation correlation'.
Proof.
  intros u. unfold correlation, correlation'. split; [|lra].
  apply (derivable_pt_lim_same (fun y => 0 + y * -1)); [intros; ring|].
  apply derivable_pt_lim_affine.
Qed.

(** ** The mean loss of [n] samples with [T i] tokens, logits [h i] and scores [g i] *)

Definition mean_loss (l : R -> R) (n : nat) (T : nat -> nat) (h g : nat -> nat -> R) : R :=
  / INR n * sum n (fun i => l (value (T i) (h i) (g i))).

(** Its derivative along logits [k], formula (G). *)
Definition mean_slope (dl : R -> R) (n : nat) (T : nat -> nat) (h k g : nat -> nat -> R) : R :=
  / INR n * sum n (fun i =>
    dl (value (T i) (h i) (g i)) * covariance (T i) (softmax (T i) (h i)) (k i) (g i)).

Lemma mean_loss_derivative : forall l dl n T h k g,
  decreasing_loss l dl -> (forall i, (i < n)%nat -> (0 < T i)%nat) ->
  derivable_pt_lim (fun x => mean_loss l n T (fun i t => h i t + x * k i t) g) 0
                   (mean_slope dl n T h k g).
Proof.
  intros l dl n T h k g D P. unfold mean_loss, mean_slope.
  apply (derivable_pt_lim_scal
           (fun x => sum n (fun i => l (value (T i) (fun t => h i t + x * k i t) (g i))))).
  apply (derivable_pt_lim_sum n
           (fun i x => l (value (T i) (fun t => h i t + x * k i t) (g i)))).
  intros i I.
  apply (derivable_pt_lim_comp (fun x => value (T i) (fun t => h i t + x * k i t) (g i)) l).
  - apply value_derivative. auto.
  - rewrite (value_ext (T i) (fun t => h i t + 0 * k i t) (h i) (g i) (g i))
      by (intros; ring || reflexivity).
    apply D.
Qed.

Lemma mean_slope_negative : forall l dl n T h k g,
  decreasing_loss l dl -> (forall i, (i < n)%nat -> (0 < T i)%nat) ->
  (forall i t u, (i < n)%nat -> (t < T i)%nat -> (u < T i)%nat ->
     0 <= (k i t - k i u) * (g i t - g i u)) ->
  (exists i t u, (i < n)%nat /\ (t < T i)%nat /\ (u < T i)%nat /\
     0 < (k i t - k i u) * (g i t - g i u)) ->
  mean_slope dl n T h k g < 0.
Proof.
  intros l dl n T h k g D P A (i & t & u & I & Ti & U & S).
  assert (C : forall j, (j < n)%nat ->
    0 <= - dl (value (T j) (h j) (g j)) * covariance (T j) (softmax (T j) (h j)) (k j) (g j) /\
    (0 < covariance (T j) (softmax (T j) (h j)) (k j) (g j) ->
     0 < - dl (value (T j) (h j) (g j)) * covariance (T j) (softmax (T j) (h j)) (k j) (g j))).
  { intros j J. destruct (D (value (T j) (h j) (g j))) as [_ N].
    destruct (covariance_positive (T j) (softmax (T j) (h j)) (k j) (g j)) as [C _]; auto.
    - apply softmax_sum; auto.
    - intros; apply softmax_pos; auto.
    - split; [apply Rmult_le_pos; lra|]. intros. apply Rmult_lt_0_compat; lra. }
  unfold mean_slope.
  assert (Hn : 0 < / INR n) by (apply Rinv_0_lt_compat, lt_0_INR; lia).
  assert (Q : 0 < sum n (fun j =>
    - dl (value (T j) (h j) (g j)) * covariance (T j) (softmax (T j) (h j)) (k j) (g j))).
  { apply (sum_pos_one n _ i).
    - intros j J. apply C, J.
    - assumption.
    - apply C; [assumption|].
      destruct (covariance_positive (T i) (softmax (T i) (h i)) (k i) (g i)) as [_ C']; auto.
      + apply softmax_sum; auto.
      + intros; apply softmax_pos; auto.
      + apply (C' t u); auto. }
  rewrite (sum_ext n _ (fun j =>
    -1 * (dl (value (T j) (h j) (g j)) * covariance (T j) (softmax (T j) (h j)) (k j) (g j)))) in Q
    by (intros; ring).
  rewrite sum_scale in Q.
  apply Ropp_lt_cancel. rewrite Ropp_0, Ropp_mult_distr_r.
  apply Rmult_lt_0_compat; lra.
Qed.

(** ** Matrices *)

Lemma form_along : forall d u W t V w,
  form d u (along W t V) w = form d u W w + t * form d u V w.
Proof.
  intros d u W t V w. unfold form, along. rewrite <- sum_scale, <- sum_plus.
  apply sum_ext. intros a _. rewrite <- sum_scale, <- sum_plus.
  apply sum_ext. intros b _. ring.
Qed.

Lemma logit_along : forall D W t V i j,
  logit D (along W t V) i j = logit D W i j + t * logit D V i j.
Proof. intros. apply form_along. Qed.

(** ** The slopes of the loss *)

Lemma well_formed_size : forall D, well_formed D = true -> (0 < size D)%nat.
Proof. intros D H. exact (proj1 (proj2 (wf_split D H))). Qed.

Lemma well_formed_count : forall D, well_formed D = true ->
  forall i, (i < size D)%nat -> (0 < count D i)%nat.
Proof. intros D H i I. destruct (wf_sample D H i I) as [C _]. lia. Qed.

Theorem loss_slope : forall l dl D W V,
  decreasing_loss l dl -> well_formed D = true ->
  slope (loss l D) W V (slope_formula dl D W V).
Proof.
  intros l dl D W V L H.
  apply (derivable_pt_lim_same
    (fun t => mean_loss l (size D) (count D)
                (fun i j => logit D W i j + t * logit D V i j) (score D))).
  - intros t. unfold mean_loss, loss. f_equal. apply sum_ext. intros i _. f_equal.
    apply value_ext; [|reflexivity]. intros j _. symmetry. apply logit_along.
  - apply mean_loss_derivative; [assumption|]. apply well_formed_count, H.
Qed.

Lemma slope_unique : forall F W V r q, slope F W V r -> slope F W V q -> r = q.
Proof. intros F W V r q. apply uniqueness_limite. Qed.

(** The covariance with the scores is a sum over the tokens, sum_t s_t (g_t - mean g) k_t. *)
Lemma covariance_tokens : forall n s k g,
  covariance n s k g = sum n (fun t => s t * (g t - mean n s g) * k t).
Proof.
  intros n s k g. unfold covariance.
  rewrite (sum_ext n (fun t => s t * (g t - mean n s g) * k t)
                     (fun t => s t * (k t * g t) - mean n s g * (s t * k t))) by (intros; ring).
  rewrite sum_minus, sum_scale. unfold mean at 1 2. ring.
Qed.

Lemma slope_formula_gradient : forall dl D W V,
  slope_formula dl D W V = inner (dim D) (gradient dl D W) V.
Proof.
  intros dl D W V. unfold slope_formula, gradient.
  rewrite inner_scale, (inner_sum _ _ (fun i a b => dl (output D W i) *
    sum (count D i) (fun t =>
      weight D W i t * (score D i t - output D W i) * (x D i t a * z D i b)))).
  f_equal. apply sum_ext. intros i _.
  rewrite (inner_scale _ _ (fun a b => sum (count D i) (fun t =>
      weight D W i t * (score D i t - output D W i) * (x D i t a * z D i b)))).
  f_equal. rewrite covariance_tokens, (inner_sum _ _ (fun t a b =>
      weight D W i t * (score D i t - output D W i) * (x D i t a * z D i b))).
  apply sum_ext. intros t _. rewrite inner_scale. f_equal. apply form_inner.
Qed.

Theorem loss_gradient : forall l dl D W,
  decreasing_loss l dl -> well_formed D = true ->
  gradient_at (dim D) (loss l D) W (gradient dl D W).
Proof.
  intros l dl D W L H V. rewrite <- slope_formula_gradient. apply loss_slope; assumption.
Qed.

Theorem concordant_slope_negative : forall l dl D W V,
  decreasing_loss l dl -> well_formed D = true ->
  (forall i t u, (i < size D)%nat -> (t < count D i)%nat -> (u < count D i)%nat ->
     0 <= (logit D V i t - logit D V i u) * (score D i t - score D i u)) ->
  (exists i t u, (i < size D)%nat /\ (t < count D i)%nat /\ (u < count D i)%nat /\
     0 < (logit D V i t - logit D V i u) * (score D i t - score D i u)) ->
  slope_formula dl D W V < 0.
Proof.
  intros l dl D W V L H A S.
  apply (mean_slope_negative l dl (size D) (count D) (logit D W) (logit D V) (score D));
    try assumption.
  apply well_formed_count, H.
Qed.
