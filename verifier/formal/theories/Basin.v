(** * A finite iterate proves the limit of gradient descent

    Statement: let the conditions (i)-(iv) of BasinConditions.v hold for the selection alpha, and
    let W_0 lie in the cone with condition (v) on its clock and its distance from the ray of M.
    Then gradient descent on the actual loss L from W_0, with a constant step (plain) or steps of
    constant length (normalized), stays in the cone for ever, its norm tends to infinity, and
    W_k / |W_k| tends to M / |M|, where M is the solution of Att-SVM(alpha) ([basin_plain],
    [basin_normalized]; [solution_optimum] in BasinStep.v).  Gradients are those of L, as limits of
    difference quotients.

    Outside: gradient flow, the second set of conditions (the residual), balls around W_0, and
    the numerical evaluation of the conditions (exponentials of given numbers) on a dataset; the
    conditions are hypotheses on real numbers here.

    Source: docs/theory/basin.md, Lemma 1 and Theorem 1; arXiv 2308.16898 v1, Theorem 7. *)

From Coq Require Import Reals Lra Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  LossRows BasinConditions BasinCone BasinStep.
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

(** Facts of BasinStep.v about this cone. *)
Let epsv_nonneg := epsv_nonneg D alpha c dl chosen H.
Let mean_pull := mean_pull D alpha c dl.
Let mean_pull_low := mean_pull_low D alpha c dl formed chosen H.
Let clock_gradient := clock_gradient D alpha c l dl decreasing formed chosen H.
Let clock_gradient_neg := clock_gradient_neg D alpha c l dl decreasing formed chosen H.
Let length_gradient := length_gradient D alpha c l dl decreasing formed chosen H.
Let length_gradient_pull := length_gradient_pull D alpha c l dl decreasing formed chosen H.
Let one_step := one_step D alpha c l dl decreasing formed chosen H.
Notation growth := (growth D alpha c).

(** ** Descent *)

Section Descent.
Variables (W G : nat -> matrix) (eta : nat -> R) (sigma p2 : R).
Hypothesis steps : descent l D eta W G.
Hypothesis eta_pos : forall k, In (W k) -> 0 < eta k.
Hypothesis sigma_nonneg : 0 <= sigma.
Hypothesis short : forall k, In (W k) -> eta k * norm d (Across (G k)) <= sigma.

(** Condition (v): a start of clock at least s, within the square root of p2 of the ray. *)
Definition starts_inside : Prop :=
  s <= Clock (W 0%nat) /\ norm2 d (Across (W 0%nat)) <= p2 /\ 0 <= p2 /\ p2
    <= (tau * s) * (tau * s) /\
  (growth sigma <= tau * tau * s \/
   growth sigma * growth sigma <= tau * tau * (2 * growth sigma * s - p2)).
Hypothesis inside : starts_inside.

Let C : R := growth sigma.

Lemma in_cone_start : In (W 0%nat).
Proof.
  destruct inside as (I1 & I2 & I3 & I4 & _).
  assert (SP := cone_start D alpha c dl H). assert (TP := cone_aperture D alpha c dl H).
  split; [exact I1|]. apply norm_le; [apply Rmult_le_pos; lra|].
  apply Rle_trans with ((tau * s) * (tau * s)); [lra|].
  apply Rmult_le_compat; try (apply Rmult_le_pos; lra); apply Rmult_le_compat_l; lra.
Qed.

Lemma growth_nonneg : 0 <= C.
Proof.
  assert (SP := cone_start D alpha c dl H). assert (TP := cone_aperture D alpha c dl H).
  assert (I := in_cone_start).
  assert (EN := epsv_nonneg _ I). assert (E1 := cone_iv D alpha c dl H).
  destruct (cone_entropy D alpha c dl H) as [E0 _]. destruct (cone_width D alpha c dl H) as [V0 _].
  unfold C, growth.
  assert (0 <= s * tau * epsv) by (repeat apply Rmult_le_pos; lra).
  assert (0 <= sigma * (width c + epsv)) by (apply Rmult_le_pos; lra).
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rlt_le, Rinv_0_lt_compat; lra].
Qed.

Lemma parabola : forall x, s <= x -> p2 + 2 * C * (x - s) <= (tau * x) * (tau * x).
Proof.
  intros x X. destruct inside as (_ & _ & P0 & P1 & V).
  assert (SP := cone_start D alpha c dl H). assert (TP := cone_aperture D alpha c dl H).
  assert (T2 : 0 < tau * tau) by (apply Rmult_lt_0_compat; exact TP).
  assert (CN := growth_nonneg).
  fold C in V. destruct V as [V|V].
  - assert (K : 2 * C * (x - s) <= 2 * (tau * tau * s) * (x - s))
      by (apply Rmult_le_compat_r; lra).
    assert (tau * tau * ((x - s) * (x - s)) >= 0) by (apply Rle_ge, Rmult_le_pos; nra).
    nra.
  - apply Rmult_le_reg_l with (tau * tau); [exact T2|].
    assert (K : 0 <= (tau * tau * x - C) * (tau * tau * x - C)) by apply Rle_0_sqr.
    lra.
Qed.

Lemma in_cone_of : forall V, s <= Clock V -> norm2 d (Across V)
  <= p2 + 2 * C * (Clock V - s) -> In V.
Proof.
  intros V S B. split; [exact S|].
  assert (SP := cone_start D alpha c dl H). assert (TP := cone_aperture D alpha c dl H).
  apply norm_le; [apply Rmult_le_pos; lra|].
  eapply Rle_trans; [exact B|]. apply parabola, S.
Qed.

Theorem stays_in_cone : forall k,
  In (W k) /\ Clock (W 0%nat) <= Clock (W k) /\
  norm2 d (Across (W k)) <= p2 + 2 * C * (Clock (W k) - Clock (W 0%nat)) /\
  Clock (W k) < Clock (W (S k)).
Proof.
  assert (CN := growth_nonneg). destruct inside as (I1 & I2 & I3 & I4 & _).
  assert (One : forall k, In (W k) ->
    Clock (W k) < Clock (W (S k)) /\
    norm2 d (Across (W (S k))) - norm2 d (Across (W k)) <= 2 * C * (Clock (W (S k)) - Clock (W k))).
  { intros k I. destruct (steps k) as [Gk Wk].
    destruct (one_step (W k) (G k) I Gk (W (S k)) (eta k) sigma (eta_pos k I) sigma_nonneg
                (short k I) Wk) as [E B].
    assert (N := clock_gradient_neg (W k) (G k) I Gk). assert (P := eta_pos k I).
    split; [|exact B]. rewrite E. assert (eta k * Clock (G k) < 0) by nra. lra. }
  assert (All : forall k, In (W k) /\ Clock (W 0%nat) <= Clock (W k) /\
    norm2 d (Across (W k)) <= p2 + 2 * C * (Clock (W k) - Clock (W 0%nat))).
  { induction k as [|k (IH1 & IH2 & IH3)].
    - split; [|split; [lra|rewrite Rminus_diag_eq by reflexivity; lra]].
      apply in_cone_of; [exact I1|].
      assert (0 <= 2 * C * (Clock (W 0%nat) - s)) by (apply Rmult_le_pos; lra). lra.
    - destruct (One k IH1) as [O1 O2].
      assert (B : norm2 d (Across (W (S k))) <= p2 + 2 * C * (Clock (W (S k)) - Clock (W 0%nat)))
        by lra.
      split; [|split; [lra|exact B]].
      apply in_cone_of; [lra|]. eapply Rle_trans; [exact B|].
      apply Rplus_le_compat_l, Rmult_le_compat_l; lra. }
  intros k. destruct (All k) as (A1 & A2 & A3). destruct (One k A1) as [O1 _]. auto.
Qed.

(** Once the clock is known to tend to infinity, the direction converges. *)
Lemma direction_of_clock : cv_infty (fun k => Clock (W k)) -> converges_in_direction d W M.
Proof.
  intros Inf. set (r := fun k => norm d (W k)). set (m := norm d M).
  assert (MP : 0 < m) by (apply sqrt_lt_R0, n2_pos).
  assert (M2 : m * m = norm2 d M) by apply norm_square.
  assert (R2 : forall k, r k * r k
    = (Clock (W k) * m) * (Clock (W k) * m) + norm2 d (Across (W k))).
  { intros k. unfold r. rewrite norm_square, (norm2_split D alpha c dl H), <- M2. ring. }
  assert (Rx : forall k, Clock (W k) * m <= r k).
  { intros k. apply Rsqr_incr_0_var; [|apply norm_nonneg]. unfold Rsqr. rewrite R2.
    assert (P := norm2_nonneg d (Across (W k))). lra. }
  apply direction_of_components; [exact n2_pos| |].
  - intros B. destruct (Inf (B / m)) as [N HN]. exists N. intros k K.
    apply Rlt_le_trans with (2 := Rx k). specialize (HN k K). simpl in HN.
    apply Rmult_lt_compat_r with (r := m) in HN; [|exact MP].
    unfold Rdiv in HN. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in HN by lra. exact HN.
  - intros eps He. fold m. set (K0 := p2 + 2 * C).
    destruct (Inf (1 + Rabs (K0 / (eps * (m * m))))) as [N HN]. exists N. intros k K.
    specialize (HN k K). simpl in HN. set (t := Clock (W k)) in *.
    destruct (stays_in_cone k) as (_ & _ & B & _). fold t in B.
    assert (A := Rle_abs (K0 / (eps * (m * m)))).
    assert (T0 := Rabs_pos (K0 / (eps * (m * m)))).
    assert (EM : 0 < eps * (m * m)) by (repeat apply Rmult_lt_0_compat; assumption).
    assert (Small : norm2 d (Across (W k)) <= eps * ((t * m) * (t * m))).
    { assert (CN := growth_nonneg). destruct inside as (J1 & _ & J3 & _).
      assert (SP := cone_start D alpha c dl H).
      assert (B' : norm2 d (Across (W k)) <= K0 * t).
      { assert (2 * C * (t - Clock (W 0%nat)) <= 2 * C * t) by (apply Rmult_le_compat_l; lra).
        unfold K0. assert (p2 <= p2 * t) by nra. lra. }
      assert (L : K0 <= t * (eps * (m * m))).
      { apply Rmult_le_reg_r with (/ (eps * (m * m))); [apply Rinv_0_lt_compat, EM|].
        rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. fold (K0 / (eps * (m * m))). lra. }
      apply Rle_trans with (1 := B').
      replace (eps * (t * m * (t * m))) with (t * (eps * (m * m)) * t) by ring.
      apply Rmult_le_compat_r; lra. }
    replace (inner d (W k) M / m) with (t * m)
      by (unfold t, clock; rewrite <- M2; field; lra).
    assert (Q := Rx k). specialize (R2 k). fold t in Q, R2. fold (r k).
    set (x := t * m) in *. assert (XP : 0 < x) by (apply Rmult_lt_0_compat; lra).
    apply Rmult_le_reg_r with (r k + x); [lra|].
    apply Rle_trans with (eps * (x * x)); [lra|].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    apply Rmult_le_compat; lra.
Qed.

End Descent.

(** ** The two step rules *)

(** A bound of the length across M of every plain step of size h in the cone. *)
Definition plain_length (h : R) : R :=
  h / n * rows D alpha (fun i t => force D alpha c i t * exp
    (- low D alpha c i t) * v_ D alpha c i t).

Theorem basin_plain : forall h p2 W G, 0 < h ->
  descent l D (fun _ => h) W G -> starts_inside W (plain_length h) p2 ->
  (forall k, In (W k)) /\ converges_in_direction d W M.
Proof.
  intros h p2 W G Hh St Ins.
  assert (Short : forall k, In (W k) -> h * norm d (Across (G k)) <= plain_length h).
  { intros k I. assert (L := length_gradient (W k) (G k) (proj1 (St k))).
    assert (B := across_length_fixed D alpha c dl chosen H (W k) I). simpl in B.
    unfold plain_length.
    apply Rmult_le_reg_l with n; [exact n_pos|].
    match goal with |- _ <= n * (h / n * ?r) =>
      replace (n * (h / n * r)) with (h * r) by (field; lra) end.
    rewrite <- Rmult_assoc, (Rmult_comm n h), Rmult_assoc.
    apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact L|exact B]. }
  assert (SN : 0 <= plain_length h).
  { assert (I : In (W 0%nat)) by (apply (in_cone_start W _ p2 Ins)).
    apply Rle_trans with (2 := Short O I). apply Rmult_le_pos; [lra|apply norm_nonneg]. }
  assert (Stay := stays_in_cone W G (fun _ => h) _ p2 St (fun _ _ => Hh) SN Short Ins).
  split; [intros k; apply Stay|].
  apply (direction_of_clock W G (fun _ => h) (plain_length h) p2 St (fun _ _ => Hh) SN Short Ins).
  set (delta := h * (Z D alpha c / n * (1 - epsa)) / norm2 d M).
  assert (E1 := cone_iv D alpha c dl H). assert (ZP := Z_pos D alpha c).
  apply (growing_to_infinity _ delta).
  - unfold delta. apply Rdiv_lt_0_compat; [|exact n2_pos].
    apply Rmult_lt_0_compat; [exact Hh|].
    apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; assumption|lra].
  - intros k. destruct (Stay k) as (I & _). destruct (St k) as [Gk Wk].
    destruct (one_step (W k) (G k) I Gk (W (S k)) h _ Hh SN (Short k I) Wk) as [-> _].
    assert (B := clock_gradient (W k) (G k) I Gk). assert (P := mean_pull_low (W k) I).
    assert (K : Z D alpha c / n * exp (- Clock (W k)) * (1 - epsa) <= - Clock (G k) * norm2 d M).
    { eapply Rle_trans; [|exact B]. apply Rmult_le_compat_r; lra. }
    assert (K' : delta * exp (- Clock (W k)) <= h * - Clock (G k)).
    { unfold delta. apply Rmult_le_reg_r with (norm2 d M); [exact n2_pos|].
      replace (h * (Z D alpha c / n * (1 - epsa)) / norm2 d M * exp (- Clock (W k)) * norm2 d M)
        with (h * (Z D alpha c / n * exp (- Clock (W k)) * (1 - epsa))) by (field; lra).
      rewrite (Rmult_assoc h). apply Rmult_le_compat_l; lra. }
    lra.
Qed.

Theorem basin_normalized : forall h p2 W G, 0 < h ->
  descent l D (fun k => h / norm d (G k)) W G -> starts_inside W h p2 ->
  (forall k, In (W k)) /\ converges_in_direction d W M.
Proof.
  intros h p2 W G Hh St Ins. set (eta := fun k => h / norm d (G k)).
  assert (NG : forall k, norm d (G k) * norm d (G k)
    = Clock (G k) * Clock (G k) * norm2 d M + norm d (Across (G k)) * norm d (Across (G k))).
  { intros k. rewrite !norm_square. apply (norm2_split D alpha c dl H). }
  assert (NP : forall k, In (W k) -> 0 < norm d (G k)).
  { intros k I. assert (N := clock_gradient_neg (W k) (G k) I (proj1 (St k))).
    destruct (norm_nonneg d (G k)) as [P|P]; [exact P|exfalso].
    assert (E := NG k). rewrite <- P in E. assert (Q := Rle_0_sqr (norm d (Across (G k)))).
    unfold Rsqr in Q. assert (C2 : 0 < Clock (G k) * Clock (G k)) by nra.
    assert (0 < Clock (G k) * Clock (G k) * norm2 d M) by (apply Rmult_lt_0_compat; assumption).
    lra. }
  assert (EP : forall k, In (W k) -> 0 < eta k)
    by (intros k I; apply Rdiv_lt_0_compat; [exact Hh|apply NP, I]).
  assert (Short : forall k, In (W k) -> eta k * norm d (Across (G k)) <= h).
  { intros k I. assert (P := NP k I). unfold eta.
    apply Rmult_le_reg_r with (norm d (G k)); [exact P|].
    replace (h / norm d (G k) * norm d (Across (G k)) * norm d (G k))
      with (h * norm d (Across (G k))) by (field; lra).
    apply Rmult_le_compat_l; [lra|]. assert (E := NG k).
    assert (Q := norm_nonneg d (Across (G k))).
    assert (0 <= Clock (G k) * Clock (G k) * norm2 d M) by (apply Rmult_le_pos; nra).
    apply Rsqr_incr_0_var; unfold Rsqr; lra. }
  assert (HN : 0 <= h) by lra.
  assert (Stay := stays_in_cone W G eta h p2 St EP HN Short Ins).
  split; [intros k; apply Stay|].
  apply (direction_of_clock W G eta h p2 St EP HN Short Ins).
  assert (E1 := cone_iv D alpha c dl H).
  set (K := (width c + epsv) * norm2 d M / (1 - epsa)).
  set (X := 1 + norm2 d M + K * K).
  assert (XP : 1 <= X) by (unfold X; assert (P := Rle_0_sqr K); unfold Rsqr in P; lra).
  apply (growing_to_infinity _ (h / X)).
  - apply Rdiv_lt_0_compat; lra.
  - intros k. destruct (Stay k) as (I & _). destruct (St k) as [Gk Wk].
    destruct (one_step (W k) (G k) I Gk (W (S k)) (eta k) h (EP k I) HN (Short k I) Wk) as [-> _].
    assert (N := clock_gradient_neg (W k) (G k) I Gk). set (y := - Clock (G k)) in *.
    assert (Y : 0 < y) by (unfold y; lra).
    assert (B := clock_gradient (W k) (G k) I Gk). fold y in B.
    assert (L := length_gradient_pull (W k) (G k) I Gk).
    assert (EN := epsv_nonneg (W k) I). destruct (cone_width D alpha c dl H) as [V0 _].
    assert (LK : norm d (Across (G k)) <= y * K).
    { eapply Rle_trans; [exact L|]. unfold K.
      replace (y * ((width c + epsv) * norm2 d M / (1 - epsa)))
        with (y * norm2 d M * / (1 - epsa) * (width c + epsv)) by (field; lra).
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_reg_r with (1 - epsa); [lra|].
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (GX : norm d (G k) <= y * X).
    { apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. unfold Rsqr. rewrite NG.
      replace (Clock (G k) * Clock (G k)) with (y * y) by (unfold y; ring).
      assert (Q := norm_nonneg d (Across (G k))).
      assert (LL : norm d (Across (G k)) * norm d (Across (G k)) <= (y * K) * (y * K))
        by (apply Rmult_le_compat; assumption).
      apply Rle_trans with (y * y * X).
      - unfold X. assert (0 <= y * y) by nra. lra.
      - replace (y * X * (y * X)) with (y * y * (X * X)) by ring.
        apply Rmult_le_compat_l; nra. }
    assert (Ex : exp (- Clock (W k)) <= 1).
    { rewrite <- exp_0. apply exp_le. destruct I as [I _].
      assert (SP := cone_start D alpha c dl H). lra. }
    assert (HX : 0 < h / X) by (apply Rdiv_lt_0_compat; lra).
    assert (Gain : h / X <= eta k * y).
    { assert (P := NP k I). unfold eta. apply Rmult_le_reg_r with (X * norm d (G k)).
      - apply Rmult_lt_0_compat; lra.
      - replace (h / X * (X * norm d (G k))) with (h * norm d (G k)) by (field; lra).
        replace (h / norm d (G k) * y * (X * norm d (G k))) with (h * (y * X)) by (field; lra).
        apply Rmult_le_compat_l; lra. }
    replace (Clock (W k) - eta k * Clock (G k)) with (Clock (W k) + eta k * y)
      by (unfold y; ring).
    apply Rplus_le_compat_l. assert (PE := exp_pos (- Clock (W k))). nra.
Qed.

End Basin.
