(** * Second derivatives of the loss

    Statement: let l have the second derivative l'', and for every sample i let the scores lie in
    [lo_i, hi_i], R_i = hi_i - lo_i, m1_i >= -l' and m2_i >= |l''| there, and let the logits k_i of
    a direction lie within r_i of each other. Then, [stiffness] being
    1/n sum_i r_i^2/4 (R_i m1_i + R_i^2 m2_i/4), the mean loss of the logits h + k exceeds that of
    h by at most its slope along k plus stiffness/2 ([loss_along]). The logistic, the exponential
    and the correlation loss are twice differentiable.  Independent of any dataset.

    Source: docs/theory/global_limits.md, "Smoothness" and (2); arXiv 2308.16898 v1, Lemma 4. *)

From Coq Require Import Arith Reals Lra Psatz.
From AttSVM Require Import Dataset Sums Loss Analysis AnalysisLimits LossFacts.
Local Open Scope R_scope.

(** ** Means, covariances and cumulants under weights that add up to 1 *)

Definition third_cumulant (n : nat) (s k g : nat -> R) : R :=
  covariance n s k (fun t => k t * g t)
  - (covariance n s k k * mean n s g + mean n s k * covariance n s k g).

Section Cumulants.
Variables (n : nat) (s : nat -> R).
Hypothesis total_1 : sum n s = 1.
Hypothesis positive : forall t, (t < n)%nat -> 0 <= s t.
Hypothesis some : (0 < n)%nat.

Notation E := (mean n s).

Lemma mean_plus : forall f g, E (fun t => f t + g t) = E f + E g.
Proof. intros. unfold mean. rewrite <- sum_plus. apply sum_ext. intros. ring. Qed.

Lemma mean_scale : forall c f, E (fun t => c * f t) = c * E f.
Proof. intros. unfold mean. rewrite <- sum_scale. apply sum_ext. intros. ring. Qed.

Lemma mean_const : forall c, E (fun _ => c) = c.
Proof. intros. unfold mean. rewrite sum_scale_r, total_1. ring. Qed.

Lemma mean_le : forall f g, (forall t, (t < n)%nat -> f t <= g t) -> E f <= E g.
Proof. intros f g L. apply sum_le. intros t T. apply Rmult_le_compat_l; auto. Qed.

Lemma mean_between : forall f lo hi, (forall t, (t < n)%nat -> lo <= f t <= hi) -> lo <= E f <= hi.
Proof.
  intros f lo hi B. rewrite <- (mean_const lo), <- (mean_const hi) at 1.
  split; apply mean_le; intros t T; apply B, T.
Qed.

(** E (k - a)(g - b) for constants a, b. *)
Lemma mean_centred : forall k g a b,
  E (fun t => (k t - a) * (g t - b)) = covariance n s k g + (E k - a) * (E g - b).
Proof.
  intros k g a b.
  rewrite (mean_ext n s _ (fun t => k t * g t + (- b * k t + (- a * g t + a * b))))
    by (intros; ring).
  rewrite !mean_plus, !mean_scale, mean_const. unfold covariance. ring.
Qed.

Lemma variance_nonneg : forall k, 0 <= covariance n s k k.
Proof.
  intros k. assert (C := mean_centred k k (E k) (E k)).
  assert (P : E (fun _ => 0) <= E (fun t => (k t - E k) * (k t - E k)))
    by (apply mean_le; intros; apply Rle_0_sqr).
  rewrite mean_const in P. lra.
Qed.

Lemma variance_le : forall k r, (forall t u, (t < n)%nat -> (u < n)%nat -> k t - k u <= r) ->
  covariance n s k k <= r * r / 4.
Proof.
  intros k r B. destruct (finite_middle n k r some B) as [a A].
  assert (C := mean_centred k k a a).
  assert (P : E (fun t => (k t - a) * (k t - a)) <= E (fun _ => r * r / 4)).
  { apply mean_le. intros t T. specialize (A t T).
    assert (0 <= (r / 2 - (k t - a)) * (r / 2 + (k t - a))) by (apply Rmult_le_pos; lra). lra. }
  rewrite mean_const in P. assert (Q := Rle_0_sqr (E k - a)). unfold Rsqr in Q. lra.
Qed.

Lemma covariance_square : forall k g,
  covariance n s k g * covariance n s k g <= covariance n s k k * covariance n s g g.
Proof.
  intros k g.
  assert (P : forall x y, 0 <= x * x * covariance n s k k + 2 * (x * y) * covariance n s k g
                               + y * y * covariance n s g g).
  { intros x y. assert (V := variance_nonneg (fun t => x * k t + y * g t)).
    unfold covariance in *.
    rewrite (mean_ext n s _ (fun t => x * x * (k t * k t) + (2 * (x * y) * (k t * g t)
               + y * y * (g t * g t)))) in V by (intros; ring).
    rewrite !mean_plus, !mean_scale in V. lra. }
  set (a := covariance n s k k) in *. set (b := covariance n s k g) in *.
  set (e := covariance n s g g) in *.
  assert (A : 0 <= a) by apply variance_nonneg. assert (F : 0 <= e) by apply variance_nonneg.
  destruct A as [A|A].
  - specialize (P (- b) a). nra.
  - rewrite <- A in *. destruct (Req_dec b 0) as [->|N]; [lra|].
    specialize (P (- (1 + e) / b) 1).
    replace (- (1 + e) / b * (- (1 + e) / b) * 0 + 2 * (- (1 + e) / b * 1) * b + 1 * 1 * e)
      with (- 2 * (1 + e) + e) in P by (field; exact N). lra.
Qed.

Lemma third_cumulant_centred : forall k g,
  third_cumulant n s k g = E (fun t => (k t - E k) * (k t - E k) * (g t - E g)).
Proof.
  intros k g. set (a := E k). set (b := E g).
  rewrite (mean_ext n s _ (fun t => k t * (k t * g t) + (- b * (k t * k t)
     + (- (2 * a) * (k t * g t) + (2 * a * b * k t + (a * a * g t + - (a * a * b)))))))
    by (intros; ring).
  rewrite !mean_plus, !mean_scale, mean_const. unfold third_cumulant, covariance.
  fold a b. ring.
Qed.

Lemma third_cumulant_le : forall k g lo hi, (forall t, (t < n)%nat -> lo <= g t <= hi) ->
  Rabs (third_cumulant n s k g) <= (hi - lo) * covariance n s k k.
Proof.
  intros k g lo hi B. rewrite third_cumulant_centred.
  assert (M := mean_between g lo hi B).
  assert (V : covariance n s k k = E (fun t => (k t - E k) * (k t - E k)))
    by (rewrite mean_centred; ring).
  rewrite V, <- mean_scale. apply Rabs_le. split.
  - replace (- E (fun t => (hi - lo) * ((k t - E k) * (k t - E k))))
      with (-1 * E (fun t => (hi - lo) * ((k t - E k) * (k t - E k)))) by ring.
    rewrite <- mean_scale. apply mean_le. intros t T. specialize (B t T).
    assert (Q := Rle_0_sqr (k t - E k)). unfold Rsqr in Q. nra.
  - apply mean_le. intros t T. specialize (B t T).
    assert (Q := Rle_0_sqr (k t - E k)). unfold Rsqr in Q. nra.
Qed.
End Cumulants.

(** ** Second derivatives along a line *)

Lemma derivable_pt_lim_shift : forall f x r,
  derivable_pt_lim (fun y => f (x + y)) 0 r -> derivable_pt_lim f x r.
Proof.
  intros f x r D eps He. destruct (D eps He) as [delta B]. exists delta. intros y Y S.
  specialize (B y Y S). rewrite Rplus_0_l, Rplus_0_r in B. exact B.
Qed.

(** The logits h + x k. *)
Definition on_line (h k : nat -> R) (x : R) : nat -> R := fun t => h t + x * k t.

Lemma value_derivative_at : forall n h k g x, (0 < n)%nat ->
  derivable_pt_lim (fun y => value n (on_line h k y) g) x (covariance n (softmax n
    (on_line h k x)) k g).
Proof.
  intros n h k g x N. apply derivable_pt_lim_shift.
  apply (derivable_pt_lim_same (fun y => value n (fun t => on_line h k x t + y * k t) g)).
  - intros y. apply value_ext; [|reflexivity]. intros t _. unfold on_line. ring.
  - apply value_derivative, N.
Qed.

Lemma covariance_derivative : forall n h k g x, (0 < n)%nat ->
  derivable_pt_lim (fun y => covariance n (softmax n (on_line h k y)) k g) x
                   (third_cumulant n (softmax n (on_line h k x)) k g).
Proof.
  intros n h k g x N.
  set (v := fun q y => value n (on_line h k y) q).
  apply (derivable_pt_lim_same (fun y => v (fun t => k t * g t) y - v k y * v g y)); [reflexivity|].
  assert (D : forall q, derivable_pt_lim (v q) x (covariance n (softmax n (on_line h k x)) k q))
    by (intros; apply value_derivative_at, N).
  apply (derivable_pt_lim_minus (v (fun t => k t * g t)) (fun y => v k y * v g y)); [apply D|].
  exact (derivable_pt_lim_mult (v k) (v g) x _ _ (D k) (D g)).
Qed.

Section Smooth.
Variables (l dl ddl : R -> R).
Hypothesis smooth : smooth_loss l dl ddl.
Variables (n : nat) (T : nat -> nat) (h k g : nat -> nat -> R).
Variables (lo hi m1 m2 r : nat -> R).
Hypothesis tokens : forall i, (i < n)%nat -> (0 < T i)%nat.
Hypothesis scores : forall i t, (i < n)%nat -> (t < T i)%nat -> lo i <= g i t <= hi i.
Hypothesis first : forall i u, (i < n)%nat -> lo i <= u <= hi i -> - dl u <= m1 i.
Hypothesis second : forall i u, (i < n)%nat -> lo i <= u <= hi i -> Rabs (ddl u) <= m2 i.
Hypothesis logits : forall i t u, (i < n)%nat -> (t < T i)%nat -> (u < T i)%nat ->
  k i t - k i u <= r i.

Let line (y : R) (i : nat) : nat -> R := on_line (h i) (k i) y.
Let f (i : nat) (y : R) : R := value (T i) (line y i) (g i).
Let s (i : nat) (y : R) : nat -> R := softmax (T i) (line y i).

Definition curvature (y : R) : R := / INR n * sum n (fun i =>
  ddl (f i y) * covariance (T i) (s i y) (k i) (g i) * covariance (T i) (s i y) (k i) (g i)
  + dl (f i y) * third_cumulant (T i) (s i y) (k i) (g i)).

Lemma slope_derivative : forall x,
  derivable_pt_lim (fun y => mean_slope dl n T (line y) k g) x (curvature x).
Proof.
  intros x. unfold mean_slope, curvature.
  apply (derivable_pt_lim_scal (fun y => sum n (fun i =>
    dl (f i y) * covariance (T i) (s i y) (k i) (g i)))).
  apply (derivable_pt_lim_sum n (fun i y => dl (f i y) * covariance (T i) (s i y) (k i) (g i))).
  intros i I.
  assert (D1 : derivable_pt_lim (fun y => dl (f i y)) x
                 (ddl (f i x) * covariance (T i) (s i x) (k i) (g i))).
  { apply (derivable_pt_lim_comp (f i) dl); [apply value_derivative_at; auto|apply smooth]. }
  exact (derivable_pt_lim_mult (fun y => dl (f i y)) _ x _ _ D1
           (covariance_derivative (T i) (h i) (k i) (g i) x (tokens i I))).
Qed.

Lemma loss_derivative_at : forall x,
  derivable_pt_lim (fun y => mean_loss l n T (line y) g) x (mean_slope dl n T (line x) k g).
Proof.
  intros x. apply derivable_pt_lim_shift.
  apply (derivable_pt_lim_same
           (fun y => mean_loss l n T (fun i t => line x i t + y * k i t) g)).
  - intros y. unfold mean_loss. f_equal. apply sum_ext. intros i _. f_equal.
    apply value_ext; [|reflexivity]. intros t _. unfold line, on_line. ring.
  - apply mean_loss_derivative; [apply smooth|exact tokens].
Qed.

Definition stiffness : R := / INR n * sum n (fun i =>
  r i * r i / 4 * ((hi i - lo i) * m1 i + (hi i - lo i) * (hi i - lo i) * m2 i / 4)).

Lemma curvature_le : forall x, (0 < n)%nat -> curvature x <= stiffness.
Proof.
  intros x N. unfold curvature, stiffness.
  apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, lt_0_INR, N|].
  apply sum_le. intros i I. assert (Ti := tokens i I).
  assert (S1 := softmax_sum (T i) (line x i) Ti).
  assert (SP : forall t, (t < T i)%nat -> 0 <= s i x t)
    by (intros; apply Rlt_le, softmax_pos, Ti).
  assert (Fb : lo i <= f i x <= hi i).
  { apply (mean_between (T i) (s i x) S1 SP (g i)). intros t Ht. auto. }
  destruct smooth as [Dec _]. destruct (Dec (f i x)) as [_ Neg].
  assert (B1 := first i _ I Fb). assert (B2 := second i _ I Fb).
  set (R := hi i - lo i). assert (RP : 0 <= R) by (unfold R; lra).
  set (vk := covariance (T i) (s i x) (k i) (k i)).
  assert (V1 : vk <= r i * r i / 4) by (apply variance_le; auto).
  assert (V0 : 0 <= vk) by (apply variance_nonneg; auto).
  assert (G1 : covariance (T i) (s i x) (g i) (g i) <= R * R / 4).
  { apply variance_le; auto. intros t u Ht Hu. assert (X := scores i t I Ht).
    assert (Y := scores i u I Hu). unfold R. lra. }
  assert (G0 : 0 <= covariance (T i) (s i x) (g i) (g i)) by (apply variance_nonneg; auto).
  assert (CS := covariance_square (T i) (s i x) S1 SP (k i) (g i)). fold vk in CS.
  assert (K3 := third_cumulant_le (T i) (s i x) S1 SP (k i) (g i) (lo i) (hi i)
                  (fun t Ht => scores i t I Ht)). fold vk R in K3.
  set (c := covariance (T i) (s i x) (k i) (g i)) in *.
  set (k3 := third_cumulant (T i) (s i x) (k i) (g i)) in *.
  assert (C2 : c * c <= r i * r i / 4 * (R * R / 4))
    by (eapply Rle_trans; [exact CS|]; apply Rmult_le_compat; assumption).
  assert (M2 : ddl (f i x) * (c * c) <= m2 i * (r i * r i / 4 * (R * R / 4))).
  { assert (A := Rle_abs (ddl (f i x))). assert (Q := Rle_0_sqr c). unfold Rsqr in Q.
    assert (P := Rabs_pos (ddl (f i x))).
    apply Rle_trans with (Rabs (ddl (f i x)) * (c * c)).
    - apply Rmult_le_compat_r; assumption.
    - apply Rmult_le_compat; assumption. }
  assert (M1 : dl (f i x) * k3 <= m1 i * (R * (r i * r i / 4))).
  { replace (dl (f i x) * k3) with (- dl (f i x) * - k3) by ring.
    assert (A := Rle_abs (- k3)). rewrite Rabs_Ropp in A.
    apply Rle_trans with (- dl (f i x) * (R * vk)).
    - apply Rmult_le_compat_l; lra.
    - apply Rmult_le_compat; [lra|apply Rmult_le_pos; lra|exact B1|].
      apply Rmult_le_compat_l; lra. }
  rewrite Rmult_assoc. lra.
Qed.

(** Taylor's bound along the line. *)
Theorem loss_along : (0 < n)%nat ->
  mean_loss l n T (line 1) g
  <= mean_loss l n T (line 0) g + mean_slope dl n T (line 0) k g + stiffness / 2.
Proof.
  intros N.
  set (L := fun y => mean_loss l n T (line y) g).
  set (S := fun y => mean_slope dl n T (line y) k g).
  assert (S_le : forall y, 0 < y -> S y <= S 0 + stiffness * y).
  { intros y Y. destruct (MVT_cor2 S curvature 0 y Y (fun x _ => slope_derivative x))
      as (x & E & _).
    assert (C := curvature_le x N). nra. }
  set (P := fun y => L y - (y * S 0 + y * y * (stiffness / 2))).
  assert (DP : forall y, derivable_pt_lim P y (S y - (S 0 + stiffness * y))).
  { intros y. apply (derivable_pt_lim_minus L (fun y => y * S 0 + y * y * (stiffness / 2))).
    - apply loss_derivative_at.
    - replace (stiffness * y) with ((1 * y + y * 1) * (stiffness / 2) + y * y * 0) by field.
      apply (derivable_pt_lim_plus (fun y => y * S 0) (fun y => y * y * (stiffness / 2))).
      + apply (derivable_pt_lim_same (fun y => 0 + y * S 0)); [intros; ring|].
        apply derivable_pt_lim_affine.
      + apply (derivable_pt_lim_mult (fun y => y * y) (fun _ => stiffness / 2)).
        * apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id.
        * apply derivable_pt_lim_const. }
  destruct (MVT_cor2 P _ 0 1 Rlt_0_1 (fun y _ => DP y)) as (y & E & Y).
  assert (B := S_le y (proj1 Y)). unfold P in E. fold (L 1) (L 0) (S 0). lra.
Qed.
End Smooth.

(** ** The three losses *)

Theorem logistic_smooth : smooth_loss logistic logistic' logistic''.
Proof.
  split; [exact logistic_decreasing|]. intros u. assert (E := exp_pos (- u)).
  assert (D1 : derivable_pt_lim (fun y => 1 + exp (- y)) u (- exp (- u))).
  { replace (- exp (- u)) with (0 + - exp (- u)) by ring.
    apply (derivable_pt_lim_plus (fun _ => 1) (fun y => exp (- y))).
    - apply derivable_pt_lim_const.
    - apply derivable_pt_lim_exp_minus. }
  assert (D := derivable_pt_lim_div (fun y => exp (- y)) (fun y => 1 + exp (- y)) u _ _
                 (derivable_pt_lim_exp_minus u) D1).
  specialize (D ltac:(lra)). apply derivable_pt_lim_opp in D.
  replace (logistic'' u) with
    (- ((- exp (- u) * (1 + exp (- u)) - - exp (- u) * exp (- u)) / (1 + exp (- u))²)).
  - exact D.
  - unfold logistic'', Rsqr. field. lra.
Qed.

Theorem exponential_smooth : smooth_loss exponential exponential' exponential''.
Proof.
  split; [exact exponential_decreasing|]. intros u.
  assert (D := derivable_pt_lim_opp _ _ _ (derivable_pt_lim_exp_minus u)).
  rewrite Ropp_involutive in D. exact D.
Qed.

Theorem correlation_smooth : smooth_loss correlation correlation' correlation''.
Proof.
  split; [exact correlation_decreasing|]. intros u. apply derivable_pt_lim_const.
Qed.
