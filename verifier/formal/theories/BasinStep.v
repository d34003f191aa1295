(** * One step of descent inside a cone

    Statement: let G be the gradient of L at a point W of the cone of BasinConditions.v and
    W' = W - eta G, where the part of eta G across M is at most sigma long. Then the clock rises,
    and |W'^perp|^2 - |W^perp|^2 <= 2 C (clock W' - clock W) with C = [growth sigma]
    ([one_step]). The cone contains no stationary point of L ([cone_not_stationary]), and M solves
    Att-SVM(alpha) ([solution_optimum]).

    Source: docs/theory/basin.md, Lemma 1; arXiv 2308.16898 v1, Theorem 7. *)

From Coq Require Import Reals Lra Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  LossRows BasinConditions BasinCone.
Local Open Scope R_scope.

Section Basin.
Variables (D : dataset) (alpha : selection) (c : cone) (l dl : R -> R).
Hypothesis decreasing : decreasing_loss l dl.
Hypothesis formed : well_formed D = true.
Hypothesis chosen : selects D alpha = true.
Hypothesis H : cone_conditions D alpha c dl.

Notation d := (dim D).
Notation M := (solution c).
Notation s := (start c).
Notation tau := (aperture c).
Notation n := (INR (size D)).
Notation In := (in_cone D c).
Notation Clock := (clock D c).
Notation Across := (across D c).
Notation epsa := (eps_a D alpha c).
Notation epsv := (eps_v D alpha c).

Let n2_pos : 0 < norm2 d M := cone_solution D alpha c dl H.
Let n_pos : 0 < n := lt_0_INR _ (well_formed_size D formed).

(** M solves Att-SVM(alpha). *)
Theorem solution_optimum : optimum D alpha M.
Proof.
  assert (Sep : separates D alpha M)
    by (intros i t R; exact (a_ge D alpha c dl H i t R)).
  split; [exact Sep|]. intros V HV.
  assert (I : norm2 d M <= inner d M V).
  { rewrite inner_comm.
    replace (inner d V M) with (Clock V * norm2 d M) by (unfold clock; field; lra).
    assert (E := shares_margin D alpha c dl H V).
    assert (F : 1 <= Clock V).
    { rewrite <- E, <- (shares_sum D alpha c dl H). apply rows_le. intros i t R.
      destruct (proj2 (cone_kkt D alpha c dl H) i t R) as (_ & L & _).
      assert (0 <= share D c i t)
        by (apply Rmult_le_pos; [exact L|apply Rlt_le, Rinv_0_lt_compat, n2_pos]).
      specialize (HV i t R). nra. }
    nra. }
  assert (P := norm2_nonneg d (fun a b => V a b - M a b)).
  assert (X := distance2_expand d V M). unfold distance2 in X. rewrite (inner_comm d V M) in X.
  split; [lra|]. intros L. apply distance2_zero. unfold distance2. lra.
Qed.

(** ** One step *)

(** The sum of the weights of the worse rows, over n. *)
Definition mean_pull (W : matrix) : R := on_worse D alpha c (pull dl D alpha W) / n.

Lemma mean_pull_low : forall W, In W -> Z D alpha c / n * exp (- Clock W) <= mean_pull W.
Proof.
  intros W I. assert (P := pull_low D alpha c dl chosen H W I). unfold mean_pull, Rdiv.
  replace (Z D alpha c * / n * exp (- Clock W)) with (Z D alpha c * exp (- Clock W) * / n) by ring.
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, n_pos|exact P].
Qed.

Lemma mean_pull_pos : forall W, In W -> 0 < mean_pull W.
Proof.
  intros W I. apply Rdiv_lt_0_compat; [|exact n_pos]. exact (pull_pos D alpha c dl chosen H W I).
Qed.

Lemma epsv_nonneg : forall W, In W -> 0 <= epsv.
Proof.
  intros W I. apply rows_nonneg. intros i t R. destruct (worse c i t); [lra|].
  apply Rmult_le_pos; [|apply norm_nonneg]. unfold A_.
  apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat, exp_pos].
  apply Rmult_le_pos; [|apply Rlt_le, exp_pos].
  exact (force_nonneg D alpha c dl chosen H W I i t R).
Qed.

Section Gradient.
Variables (W G : matrix).
Hypothesis inside : In W.
Hypothesis gradient_G : gradient_at d (loss l D) W G.

Lemma slopes : forall V,
  - n * inner d G V = rows D alpha (fun i t => pull dl D alpha W i t * margin D alpha V i t).
Proof.
  intros V. exact (slope_rows l dl D alpha W V _ decreasing formed chosen (gradient_G V)).
Qed.

(** <G, M> is negative. *)
Lemma clock_gradient : mean_pull W * (1 - epsa) <= - Clock G * norm2 d M.
Proof.
  assert (B := along_solution D alpha c dl chosen H W inside).
  assert (E := slopes M). unfold a_ in B. rewrite <- E in B.
  replace (Clock G * norm2 d M) with (inner d G M) by (unfold clock; field; lra).
  unfold mean_pull. apply Rmult_le_reg_l with n; [exact n_pos|].
  replace (n * (on_worse D alpha c (pull dl D alpha W) / n * (1 - epsa)))
    with (on_worse D alpha c (pull dl D alpha W) * (1 - epsa)) by (field; lra).
  replace (- Clock G * norm2 d M) with (- inner d G M) by (unfold clock; field; lra).
  change (on_worse D alpha c (fun i t => pull dl D alpha W i t)) with
    (on_worse D alpha c (pull dl D alpha W)) in B. lra.
Qed.

Lemma margin_of_across : forall V i t,
  margin D alpha (Across V) i t = inner d (Across (phi D alpha i t)) (Across V).
Proof.
  intros V i t. rewrite (margin_across D alpha c dl H).
  assert (C0 : Clock (Across V) = 0).
  { unfold clock. rewrite (across_orthogonal D alpha c dl H). unfold Rdiv. ring. }
  rewrite C0, Rmult_0_l, Rplus_0_l. apply inner_ext; [reflexivity|]. intros a b _ _.
  unfold across at 1. rewrite C0. ring.
Qed.

Lemma inner_across : forall V U, inner d (Across V) (Across U) = inner d V (Across U).
Proof.
  intros V U. unfold across at 1. rewrite inner_minus, inner_scale, (inner_comm d M).
  rewrite (across_orthogonal D alpha c dl H). ring.
Qed.

Lemma across_gradient :
  - inner d (Across G) (Across W) <= mean_pull W * (entropy c + s * tau * epsv).
Proof.
  rewrite inner_across. assert (E := slopes (Across W)).
  assert (B := across_growth D alpha c dl chosen H W inside). simpl in B.
  rewrite (rows_ext D alpha _ (fun i t => pull dl D alpha W i t *
     inner d (Across (phi D alpha i t)) (Across W))) in E
    by (intros; rewrite margin_of_across; reflexivity).
  rewrite <- E in B.
  unfold mean_pull. apply Rmult_le_reg_l with n; [exact n_pos|].
  replace (n * (on_worse D alpha c (pull dl D alpha W) / n * (entropy c + s * tau * epsv)))
    with (on_worse D alpha c (pull dl D alpha W) * (entropy c + s * tau * epsv)) by (field; lra).
  change (on_worse D alpha c (fun i t => pull dl D alpha W i t)) with
    (on_worse D alpha c (pull dl D alpha W)) in B. lra.
Qed.

Lemma length_gradient : n * norm d (Across G)
  <= rows D alpha (fun i t => Rabs (pull dl D alpha W i t) * v_ D alpha c i t).
Proof.
  set (B := rows D alpha (fun i t => Rabs (pull dl D alpha W i t) * v_ D alpha c i t)).
  assert (X : n * (norm d (Across G) * norm d (Across G)) <= norm d (Across G) * B).
  { rewrite norm_square, norm2_inner, inner_across.
    replace (n * inner d G (Across G)) with (- (- n * inner d G (Across G))) by ring.
    rewrite slopes. unfold B. rewrite <- rows_scale.
    replace (- rows D alpha (fun i t => pull dl D alpha W i t * margin D alpha (Across G) i t))
      with (-1 * rows D alpha (fun i t => pull dl D alpha W i t * margin D alpha (Across G) i t))
      by ring.
    rewrite <- rows_scale. apply rows_le. intros i t _. rewrite margin_of_across.
    assert (N := inner_norm d (Across (phi D alpha i t)) (Across G)). fold (v_ D alpha c i t) in N.
    set (x := inner d (Across (phi D alpha i t)) (Across G)) in *.
    set (p := pull dl D alpha W i t).
    apply Rle_trans with (Rabs p * Rabs x).
    - rewrite <- Rabs_mult, <- Rabs_Ropp. eapply Rle_trans; [|apply Rle_abs]. right; ring.
    - replace (norm d (Across G) * (Rabs p * v_ D alpha c i t))
        with (Rabs p * (v_ D alpha c i t * norm d (Across G))) by ring.
      apply Rmult_le_compat_l; [apply Rabs_pos|exact N]. }
  assert (BP : 0 <= B).
  { apply rows_nonneg. intros. apply Rmult_le_pos; [apply Rabs_pos|apply norm_nonneg]. }
  destruct (norm_nonneg d (Across G)) as [P|P].
  - apply Rmult_le_reg_l with (norm d (Across G)); [exact P|].
    eapply Rle_trans; [|exact X]. right; ring.
  - rewrite <- P, Rmult_0_r. exact BP.
Qed.

Lemma length_gradient_pull : norm d (Across G) <= mean_pull W * (width c + epsv).
Proof.
  assert (B := across_length D alpha c dl chosen H W inside). simpl in B.
  assert (L := length_gradient).
  unfold mean_pull. apply Rmult_le_reg_l with n; [exact n_pos|].
  replace (n * (on_worse D alpha c (pull dl D alpha W) / n * (width c + epsv)))
    with (on_worse D alpha c (pull dl D alpha W) * (width c + epsv)) by (field; lra).
  change (on_worse D alpha c (fun i t => pull dl D alpha W i t)) with
    (on_worse D alpha c (pull dl D alpha W)) in B. lra.
Qed.

Lemma clock_gradient_neg : Clock G < 0.
Proof.
  assert (B := clock_gradient). assert (P := mean_pull_pos W inside).
  assert (E := cone_iv D alpha c dl H). assert (0 < mean_pull W * (1 - epsa)) by nra. nra.
Qed.

(** How fast W_perp grows against the clock, for steps of length at most sigma across M. *)
Definition growth (sigma : R) : R :=
  norm2 d M * (entropy c + s * tau * epsv + sigma * (width c + epsv) / 2) / (1 - epsa).

Lemma one_step : forall W' eta sigma, 0 < eta -> 0 <= sigma -> eta * norm d (Across G) <= sigma ->
  (forall p q, (p < d)%nat -> (q < d)%nat -> W' p q = W p q - eta * G p q) ->
  Clock W' = Clock W - eta * Clock G /\
  norm2 d (Across W') - norm2 d (Across W) <= 2 * growth sigma * (Clock W' - Clock W).
Proof.
  intros W' eta sigma P SP L E.
  assert (EI : forall V, inner d W' V = inner d W V - eta * inner d G V).
  { intros V. rewrite (inner_ext d W' V (fun p q => W p q - eta * G p q) V) by auto.
    rewrite inner_minus, inner_scale. reflexivity. }
  assert (EC : Clock W' = Clock W - eta * Clock G) by (unfold clock; rewrite EI; field; lra).
  split; [exact EC|].
  assert (EA : norm2 d (Across W') = norm2 d (Across W) - 2 * eta * inner d (Across G) (Across W)
                                     + eta * eta * norm2 d (Across G)).
  { set (U := fun p q => Across W p q - eta * Across G p q).
    assert (EU : norm2 d (Across W') = norm2 d U).
    { rewrite !norm2_inner.
      apply inner_ext; intros p q Pp Pq; unfold U, across; rewrite EC, E by assumption; ring. }
    rewrite EU, norm2_inner. unfold U. rewrite inner_minus, inner_scale.
    rewrite (inner_comm d (Across W)), (inner_comm d (Across G)).
    rewrite !inner_minus, !inner_scale.
    rewrite (inner_comm d (Across W) (Across G)), !norm2_inner. ring. }
  rewrite EA, EC, <- (norm_square d (Across G)).
  set (q := mean_pull W).
  assert (QP : 0 < q) by (apply mean_pull_pos; exact inside).
  assert (B1 := clock_gradient). assert (B2 := across_gradient).
  assert (B3 := length_gradient_pull).
  fold q in B1, B2, B3.
  assert (EN := epsv_nonneg W inside). assert (E1 := cone_iv D alpha c dl H).
  destruct (cone_entropy D alpha c dl H) as [E0 _]. destruct (cone_width D alpha c dl H) as [V0 _].
  assert (ST : 0 < s * tau) by
    (apply Rmult_lt_0_compat; [exact (cone_start D alpha c dl H)|exact
      (cone_aperture D alpha c dl H)]).
  set (X := entropy c + s * tau * epsv + sigma * (width c + epsv) / 2).
  assert (XP : 0 <= X).
  { unfold X. assert (0 <= s * tau * epsv) by (apply Rmult_le_pos; lra).
    assert (0 <= sigma * (width c + epsv)) by (apply Rmult_le_pos; lra). lra. }
  assert (N0 := norm_nonneg d (Across G)).
  assert (T1 : eta * eta * (norm d (Across G) * norm d (Across G))
               <= eta * (sigma * (q * (width c + epsv)))).
  { replace (eta * eta * (norm d (Across G) * norm d (Across G)))
      with (eta * ((eta * norm d (Across G)) * norm d (Across G))) by ring.
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; try assumption.
    apply Rmult_le_pos; lra. }
  assert (T2 : - (2 * eta * inner d (Across G) (Across W))
               <= 2 * eta * (q * (entropy c + s * tau * epsv))).
  { replace (- (2 * eta * inner d (Across G) (Across W)))
      with (2 * eta * - inner d (Across G) (Across W)) by ring.
    apply Rmult_le_compat_l; lra. }
  assert (T3 : q * (1 - epsa) * X <= - Clock G * norm2 d M * X)
    by (apply Rmult_le_compat_r; assumption).
  apply Rle_trans with (2 * eta * (q * X)).
  - unfold X. lra.
  - replace (2 * growth sigma * (Clock W - eta * Clock G - Clock W))
      with (2 * eta * ((- Clock G * norm2 d M * X) * / (1 - epsa)))
      by (unfold growth; fold X; field; lra).
    apply Rmult_le_compat_l; [lra|].
    apply Rmult_le_reg_r with (1 - epsa); [lra|].
    rewrite (Rmult_assoc (- Clock G * norm2 d M * X)), Rinv_l by lra. lra.
Qed.

End Gradient.

(** No point of the cone is stationary. *)
Theorem cone_not_stationary : forall W, In W -> ~ stationary (loss l D) W.
Proof.
  intros W I St.
  assert (N := clock_gradient_neg W (fun _ _ => 0) I).
  assert (Zr : forall V, inner d (fun _ _ => 0) V = 0).
  { intros V. apply sum_zero. intros. apply sum_zero. intros. ring. }
  unfold clock in N. rewrite Zr in N.
  assert (0 / norm2 d M < 0) by (apply N; intros V; rewrite Zr; apply St).
  unfold Rdiv in *. lra.
Qed.

End Basin.
