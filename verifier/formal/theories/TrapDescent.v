(** * Plain gradient descent never raises the loss

    Statement: with the smoothness constant beta of TrapConditions.v, the step W' = W - eta G along
    the gradient G of L at W has L(W') <= L(W) - eta (1 - eta beta/2) |G|^2 ([loss_step]). So along
    gradient descent with 0 < eta < 2/beta the loss never increases, and the squared lengths of
    all steps have a finite sum ([path_bounded]).

    Source: docs/theory/global_limits.md, "Smoothness" and (2); arXiv 2308.16898 v1, Lemma 4. *)

From Coq Require Import Arith Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  TrapSmooth TrapConditions.
Local Open Scope R_scope.

Section Trap.
Variables (D : dataset) (alpha : selection) (b : score_bounds).

Notation d := (dim D).
Notation n := (INR (size D)).
Notation top := (top D alpha).
Notation bounded := (bounded D alpha b).
Notation beta := (beta D alpha b).
Notation loss_star := (loss_star D alpha).

Variables (l dl ddl : R -> R).
Hypothesis smooth : smooth_loss l dl ddl.
Hypothesis formed : well_formed D = true.
Hypothesis best : optimal D alpha.
Hypothesis B : bounded dl ddl.

Let decreasing : decreasing_loss l dl := proj1 smooth.
Let chosen : selects D alpha = true := proj1 best.
Let n_pos : 0 < n := lt_0_INR _ (well_formed_size D formed).

Lemma scores_between : forall i t, (i < size D)%nat -> (t < count D i)%nat ->
  lowest b i <= score D i t <= top i.
Proof.
  intros i t I T. split; [apply (lowest_score D alpha b dl ddl B); assumption|].
  destruct (Nat.eq_dec t (selected alpha i)) as [->|N]; [unfold TrapConditions.top; lra|].
  apply Rlt_le, (proj2 best). repeat split; assumption.
Qed.

Lemma output_range : forall W i, (i < size D)%nat -> lowest b i <= output D W i <= top i.
Proof.
  intros W i I. apply (mean_between (count D i) (weight D W i)).
  - apply softmax_sum, well_formed_count; assumption.
  - intros. apply Rlt_le, softmax_pos, well_formed_count; assumption.
  - intros. apply scores_between; assumption.
Qed.

(** ** Descent *)

(** The loss after a step of size eta. *)
Theorem loss_step : forall W W' G eta, gradient_at d (loss l D) W G ->
  (forall p q, (p < d)%nat -> (q < d)%nat -> W' p q = W p q - eta * G p q) ->
  loss l D W' <= loss l D W - eta * (1 - eta * beta / 2) * norm2 d G.
Proof.
  intros W W' G eta Gr E.
  set (V := fun p q => - eta * G p q).
  assert (IV : forall U, inner d U V = - eta * inner d U G).
  { intros U. rewrite inner_comm. unfold V. rewrite inner_scale, inner_comm. reflexivity. }
  assert (NV : norm d V * norm d V = eta * eta * norm2 d G).
  { rewrite norm_square, norm2_inner, IV, inner_comm, IV, norm2_inner. ring. }
  assert (Ta := loss_along l dl ddl smooth (size D) (count D) (logit D W) (logit D V) (score D)
    (lowest b) top (first_derivative b) (second_derivative b) (fun i => diameter b i * norm d V)
    (well_formed_count D formed) scores_between (bounded_first D alpha b dl ddl B)
      (bounded_second D alpha b dl ddl B)).
  assert (L1 : loss l D W' = mean_loss l (size D) (count D)
                 (fun i => on_line (logit D W i) (logit D V i) 1) (score D)).
  { unfold loss, mean_loss. f_equal. apply sum_ext. intros i _. f_equal.
    apply value_ext; [|reflexivity]. intros t _. unfold on_line, logit, form.
    rewrite Rmult_1_l, <- sum_plus. apply sum_ext. intros p P. rewrite <- sum_plus.
    apply sum_ext. intros q Q. rewrite E by assumption. unfold V. ring. }
  assert (Z : forall i t, on_line (logit D W i) (logit D V i) 0 t = logit D W i t)
    by (intros; unfold on_line; ring).
  assert (L0 : loss l D W = mean_loss l (size D) (count D)
                 (fun i => on_line (logit D W i) (logit D V i) 0) (score D)).
  { unfold loss, mean_loss. f_equal. apply sum_ext. intros i _. f_equal.
    apply value_ext; [|reflexivity]. intros t _. symmetry. apply Z. }
  assert (S0 : mean_slope dl (size D) (count D)
                 (fun i => on_line (logit D W i) (logit D V i) 0) (logit D V) (score D)
               = inner d G V).
  { rewrite <- (slope_unique _ _ _ _ _ (loss_slope l dl D W V decreasing formed) (Gr V)).
    unfold mean_slope, slope_formula. f_equal. apply sum_ext. intros i _.
    assert (Sm : forall t, (t < count D i)%nat ->
      softmax (count D i) (on_line (logit D W i) (logit D V i) 0) t = weight D W i t)
      by (intros; apply softmax_ext; auto).
    assert (Mn : forall k, mean (count D i) (softmax (count D i)
      (on_line (logit D W i) (logit D V i) 0)) k = mean (count D i) (weight D W i) k)
      by (intros; apply sum_ext; intros; rewrite Sm by assumption; reflexivity).
    unfold value, output, covariance. rewrite !Mn. reflexivity. }
  cbv beta zeta in Ta. rewrite <- L1, <- L0, S0, IV in Ta.
  assert (St : stiffness (size D) (lowest b) top (first_derivative b) (second_derivative b)
                 (fun i => diameter b i * norm d V) = eta * eta * norm2 d G * beta).
  { rewrite <- NV. unfold stiffness, TrapConditions.beta.
    rewrite <- Rmult_assoc, (Rmult_comm (norm d V * norm d V)), Rmult_assoc.
    f_equal. rewrite <- sum_scale. apply sum_ext. intros i _. field. }
  rewrite St in Ta. rewrite norm2_inner in *.
  apply Rle_trans with (loss l D W + - eta * inner d G G + eta * eta * inner d G G * beta / 2).
  - apply Ta.
    + intros i t u I T U.
      assert (F : logit D V i t - logit D V i u
                  = inner d (fun p q => (x D i t p - x D i u p) * z D i q) V).
      { unfold logit. rewrite <- form_minus, form_inner. reflexivity. }
      rewrite F. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply inner_norm|].
      apply Rmult_le_compat_r; [apply norm_nonneg|].
      apply (bounded_diameter D alpha b dl ddl B); assumption.
    + exact (well_formed_size D formed).
  - right. field.
Qed.

(** A smaller score costs more. *)
Lemma loss_function : forall y u, y < u -> exists v, y < v < u /\ l y - l u = - dl v * (u - y).
Proof.
  intros y u L. destruct (MVT_cor2 l dl y u L (fun v _ => proj1 (decreasing v))) as (v & E & I).
  exists v. split; [exact I|]. lra.
Qed.

Lemma loss_function_decreasing : forall y u, y <= u -> l u <= l y.
Proof.
  intros y u [L| ->]; [|lra]. destruct (loss_function y u L) as (v & _ & E).
  destruct (decreasing v) as [_ N].
  assert (0 < - dl v * (u - y)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma loss_above : forall W, loss_star l <= loss l D W.
Proof.
  intros W. apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, n_pos|].
  apply sum_le. intros i I. apply loss_function_decreasing, output_range, I.
Qed.

Section Descent.
Variables (W G : nat -> matrix) (eta : R).
Hypothesis eta_pos : 0 < eta.
Hypothesis eta_small : eta * beta < 2.
Hypothesis steps : descent l D (fun _ => eta) W G.

Definition moved (k : nat) : R := eta * eta * norm2 d (G k).
Definition rate : R := (1 - eta * beta / 2) / eta.

Lemma rate_pos : 0 < rate.
Proof. apply Rdiv_lt_0_compat; lra. Qed.

Lemma loss_decreases : forall k, loss l D (W (S k)) <= loss l D (W k) - rate * moved k.
Proof.
  intros k. destruct (steps k) as [Gk Wk].
  assert (L := loss_step (W k) (W (S k)) (G k) eta Gk Wk).
  replace (rate * moved k) with (eta * (1 - eta * beta / 2) * norm2 d (G k))
    by (unfold rate, moved; field; lra). exact L.
Qed.

Lemma moved_nonneg : forall k, 0 <= moved k.
Proof. intros. apply Rmult_le_pos; [nra|apply norm2_nonneg]. Qed.

Lemma loss_sum : forall k, loss l D (W k) <= loss l D (W 0%nat) - rate * sum k moved.
Proof.
  induction k as [|k IH]; simpl; [lra|]. assert (L := loss_decreases k). lra.
Qed.

Lemma loss_never_above : forall k, loss l D (W k) <= loss l D (W 0%nat).
Proof.
  intros k. assert (L := loss_sum k). assert (P := rate_pos).
  assert (0 <= sum k moved) by (apply sum_nonneg; intros; apply moved_nonneg). nra.
Qed.

(** The squared steps add up to no more than this. *)
Definition path_bound : R := (loss l D (W 0%nat) - loss_star l) / rate.

Lemma path_bounded : forall k, sum k moved <= path_bound.
Proof.
  intros k. assert (P := rate_pos). apply Rmult_le_reg_l with rate; [exact P|].
  unfold path_bound. replace (rate * ((loss l D (W 0%nat) - loss_star l) / rate))
    with (loss l D (W 0%nat) - loss_star l) by (field; lra).
  assert (A := loss_sum k). assert (A' := loss_above (W k)). lra.
Qed.

End Descent.
End Trap.
