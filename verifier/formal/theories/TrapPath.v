(** * The main lemma: where the optimal tokens lead, descent converges

    Statement: let alpha select the token of largest score of every sample, M solve Att-SVM(alpha)
    and 0 < eta < 2/beta. If along gradient descent on L all outputs f_i(W_k) exceed the second
    largest score of sample i by a fixed epsilon > 0 for ever, then W_k converges in direction to
    M ([main_lemma]).

    Source: docs/theory/global_limits.md, "The lemma". *)

From Coq Require Import Arith Classical Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  LossRows TrapSmooth TrapConditions TrapStep TrapDescent.
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

(** Facts of TrapDescent.v about this path. *)
Let scores_between := scores_between D alpha b dl ddl best B.
Let output_range := output_range D alpha b dl ddl formed best B.

Section Descent.
Variables (M : matrix) (W G : nat -> matrix) (eta : R).
Hypothesis solved : optimum D alpha M.
Hypothesis eta_pos : 0 < eta.
Hypothesis eta_small : eta * beta < 2.
Hypothesis steps : descent l D (fun _ => eta) W G.

Let moved := moved D G eta.
Let moved_nonneg := moved_nonneg D G eta.
Let path_bound := path_bound D alpha b l W eta.
Let path_bounded :=
  path_bounded D alpha b l dl ddl smooth formed best B W G eta eta_pos eta_small steps.

(** ** Outputs that stay away from the second largest scores *)

Section Leading.
Variable epsilon : R.
Hypothesis epsilon_pos : 0 < epsilon.
Hypothesis leads : forall k i, (i < size D)%nat -> second b i + epsilon <= output D (W k) i.

(** |l'| has a positive lower bound on the scores. *)
Lemma slope_floor : forall i, (i < size D)%nat -> exists g, 0 < g /\
  forall u, lowest b i <= u <= top i -> g <= - dl u.
Proof.
  intros i I. assert (R := output_range (W 0%nat) i I).
  destruct (continuity_ab_maj dl (lowest b i) (top i)) as (y & Y & _); [lra| |].
  - intros u _. apply derivable_continuous_pt. exists (ddl u). apply (proj2 smooth).
  - exists (- dl y). destruct (decreasing y) as [_ N]. split; [lra|].
    intros u U. specialize (Y u U). lra.
Qed.

Lemma weight_bounds : exists least most, 0 < least /\ forall k i t, rejected D alpha i t ->
  least * exp (- margin D alpha (W k) i t) <= pull dl D alpha (W k) i t
  <= most * exp (- margin D alpha (W k) i t).
Proof.
  assert (Each : forall i, (i < size D)%nat -> exists c, 0 < fst c /\
    forall k t, rejected D alpha i t ->
    fst c * exp (- margin D alpha (W k) i t) <= pull dl D alpha (W k) i t
    <= snd c * exp (- margin D alpha (W k) i t)).
  { intros i I. destruct (slope_floor i I) as (g & GP & Gb).
    assert (SB := second_below D alpha b dl ddl B i I).
    exists (g * (epsilon / (top i - second b i)) * epsilon,
            first_derivative b i * (top i - lowest b i)). split.
    - simpl. repeat apply Rmult_lt_0_compat; try assumption.
      apply Rinv_0_lt_compat. lra.
    - intros k t R. simpl.
      apply (leading_weights D alpha dl (W k) i formed chosen I (lowest b i) (second b i) g
               (first_derivative b i) epsilon); try assumption.
      + intros u U. apply scores_between; assumption.
      + intros u U. apply (second_score D alpha b dl ddl B), U.
      + intros u U. split; [apply Gb, U|apply (bounded_first D alpha b dl ddl B); assumption].
      + apply leads, I. }
  assert (All : forall m, (m <= size D)%nat -> exists least most, 0 < least /\
    forall k i t, (i < m)%nat -> rejected D alpha i t ->
    least * exp (- margin D alpha (W k) i t) <= pull dl D alpha (W k) i t
    <= most * exp (- margin D alpha (W k) i t)).
  { induction m as [|m IH]; intros L.
    - exists 1, 1. split; [lra|]. intros; lia.
    - destruct IH as (c1 & c2 & C1 & C); [lia|]. destruct (Each m L) as ([e1 e2] & E1 & E).
      simpl in E1, E. exists (Rmin c1 e1), (Rmax c2 e2).
      split; [apply Rmin_pos; assumption|]. intros k i t J R.
      assert (X := exp_pos (- margin D alpha (W k) i t)).
      assert (X1 := Rmin_l c1 e1). assert (X2 := Rmin_r c1 e1).
      assert (X3 := Rmax_l c2 e2). assert (X4 := Rmax_r c2 e2).
      destruct (Nat.eq_dec i m) as [->|N].
      + specialize (E k t R). nra.
      + specialize (C k i t ltac:(lia) R). nra. }
  destruct (All (size D) (le_n _)) as (least & most & L & H). exists least, most.
  split; [exact L|]. intros k i t R. apply H; [apply R|exact R].
Qed.

Lemma longest_exists : exists u, forall i t, rejected D alpha i t -> norm d (phi D alpha i t) <= u.
Proof.
  destruct (rows_min D alpha (fun i t => - norm d (phi D alpha i t)) formed) as (i & t & _ & H).
  exists (norm d (phi D alpha i t)). intros j u R. specialize (H j u R). lra.
Qed.

Lemma solution_positive : 0 < norm2 d M.
Proof.
  destruct (rejected_exists D alpha formed 0 (well_formed_size D formed)) as [t R].
  destruct (norm2_nonneg d M) as [P|Z]; [exact P|exfalso].
  assert (A := proj1 solved 0%nat t R). rewrite margin_inner in A.
  assert (C := inner_norm d (phi D alpha 0 t) M). apply abs_le in C.
  assert (N0 : norm d M = 0) by (unfold norm; rewrite <- Z; apply sqrt_0).
  rewrite N0 in C. lra.
Qed.

Let nM : R := norm d M.
Let r (k : nat) : R := norm d (W k).
(** The component of W_k along M. *)
Let along_ (k : nat) : R := inner d (W k) M / nM.

(** One step, in numbers. *)
Lemma step_numbers : exists C gain, 0 < C /\ 0 < gain /\ forall k,
  (r (S k) - r k) * r k <= (along_ (S k) - along_ k) * (r k + C) /\
  gain * exp (- (r k / nM)) <= along_ (S k) - along_ k /\
  (r (S k) - r k) * (r (S k) - r k) <= moved k.
Proof.
  destruct weight_bounds as (least & most & LP & Wb). destruct longest_exists as (u & U).
  assert (MP := solution_positive). assert (NP : 0 < nM) by apply (size_M_pos D M MP).
  assert (UP : 0 <= u).
  { destruct (rejected_exists D alpha formed 0 (well_formed_size D formed)) as [t R].
    apply Rle_trans with (2 := U _ _ R). apply norm_nonneg. }
  set (La := Rabs (spread_log D alpha least most)).
  set (sigma := 1 + path_bound).
  assert (PB : 0 <= path_bound) by exact (path_bounded 0).
  exists (La * nM + sigma * u * nM / 2 + 1), (eta * least / (n * nM)).
  assert (LaP : 0 <= La) by apply Rabs_pos.
  assert (SU : 0 <= sigma * u * nM) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; unfold sigma;
    lra).
  assert (LN : 0 <= La * nM) by (apply Rmult_le_pos; lra).
  split; [lra|]. split; [apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra|].
  intros k. destruct (steps k) as [Gk Wk].
  assert (Q0 := total_pull_low D alpha dl formed M least most solved MP LP (W k) (Wb k)).
  assert (QP := total_pull_pos D alpha dl formed M least most solved MP LP (W k) (Wb k)).
  assert (A1 := along_itself D alpha l dl decreasing formed chosen M least most solved MP LP
                  (W k) (G k) Gk (Wb k)).
  assert (A2 := along_M D alpha l dl decreasing formed chosen M least most solved LP
                  (W k) (G k) Gk (Wb k)).
  assert (A3 := gradient_length D alpha l dl decreasing formed chosen M least most u solved MP LP U
                  (W k) (G k) Gk (Wb k)).
  set (Q := total_pull D alpha dl (W k)) in *. unfold size_M in *. fold nM (r k) in Q0, A1.
  assert (EI : forall V, inner d (W (S k)) V = inner d (W k) V - eta * inner d (G k) V).
  { intros V. rewrite (inner_ext d (W (S k)) V (fun p q => W k p q - eta * G k p q) V) by auto.
    rewrite inner_minus, inner_scale. reflexivity. }
  assert (Step : along_ (S k) - along_ k = eta * (- inner d (G k) M / nM))
    by (unfold along_; rewrite EI; field; lra).
  assert (R2 : r (S k) * r (S k) = r k * r k - 2 * eta * inner d (G k) (W k) + moved k).
  { unfold r, moved, TrapDescent.moved.
    rewrite !norm_square, !norm2_inner, EI, (inner_comm d (W k)), EI.
    rewrite (inner_comm d (G k) (W (S k))), EI, (inner_comm d (W k) (G k)). ring. }
  assert (RN : 0 <= r k) by apply norm_nonneg. assert (RN' : 0 <= r (S k)) by apply norm_nonneg.
  set (y := - inner d (G k) M / nM) in *.
  assert (Y : Q <= n * nM * y).
  { replace (n * nM * y) with (- n * inner d (G k) M) by (unfold y; field; lra). exact A2. }
  assert (NN : 0 < n * nM) by (apply Rmult_lt_0_compat; lra).
  assert (YP : 0 < y) by (apply Rmult_lt_reg_l with (n * nM); lra).
  split; [|split].
  - rewrite Step.
    assert (T1 : - inner d (G k) (W k) <= y * (r k + La * nM)).
    { apply Rmult_le_reg_l with n; [exact n_pos|].
      apply Rle_trans with (Q * (r k / nM + spread_log D alpha least most)); [lra|].
      assert (S : spread_log D alpha least most <= La) by apply Rle_abs.
      apply Rle_trans with (Q * (r k / nM + La)); [apply Rmult_le_compat_l; lra|].
      replace (n * (y * (r k + La * nM))) with (n * nM * y * (r k / nM + La)) by (field; lra).
      apply Rmult_le_compat_r; [|exact Y].
      assert (0 <= r k / nM) by (apply Rmult_le_pos; [exact RN|apply Rlt_le, Rinv_0_lt_compat, NP]).
      lra. }
    assert (T2 : moved k <= eta * (y * (sigma * u * nM))).
    { assert (GN := norm_nonneg d (G k)).
      assert (S1 : eta * norm d (G k) <= sigma).
      { apply Rsqr_incr_0_var; [|unfold sigma; lra]. unfold Rsqr.
        replace (eta * norm d (G k) * (eta * norm d (G k)))
          with (eta * eta * (norm d (G k) * norm d (G k))) by ring.
        rewrite norm_square. change (moved k <= sigma * sigma).
        apply Rle_trans with path_bound.
        - apply Rle_trans with (2 := path_bounded (S k)).
          apply (sum_term (S k) moved k); [intros; apply moved_nonneg|lia].
        - unfold sigma. nra. }
      assert (S2 : norm d (G k) <= y * (u * nM)).
      { apply Rmult_le_reg_l with n; [exact n_pos|]. apply Rle_trans with (1 := A3).
        replace (n * (y * (u * nM))) with (n * nM * y * u) by ring.
        apply Rmult_le_compat_r; assumption. }
      unfold moved, TrapDescent.moved. rewrite <- norm_square.
      replace (eta * eta * (norm d (G k) * norm d (G k)))
        with (eta * ((eta * norm d (G k)) * norm d (G k))) by ring.
      replace (y * (sigma * u * nM)) with (sigma * (y * (u * nM))) by ring.
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; try assumption.
      apply Rmult_le_pos; lra. }
    assert (T3 : eta * - inner d (G k) (W k) <= eta * (y * (r k + La * nM)))
      by (apply Rmult_le_compat_l; lra).
    assert (SQ := Rle_0_sqr (r (S k) - r k)). unfold Rsqr in SQ.
    assert (EY : 0 < eta * y) by (apply Rmult_lt_0_compat; lra).
    assert (T4 : (r (S k) - r k) * r k <= (r (S k) * r (S k) - r k * r k) / 2) by lra.
    apply Rle_trans with (1 := T4). rewrite R2. lra.
  - rewrite Step. replace (eta * least / (n * nM) * exp (- (r k / nM)))
      with (eta * (least * exp (- (r k / nM)) / (n * nM))) by (field; split; lra).
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_reg_l with (n * nM); [exact NN|].
    replace (n * nM * (least * exp (- (r k / nM)) / (n * nM)))
      with (least * exp (- (r k / nM))) by (field; lra). lra.
  - assert (CS := inner_norm d (W (S k)) (W k)). apply abs_le in CS. fold (r (S k)) (r k) in CS.
    assert (E2 : moved k = r (S k) * r (S k) - 2 * inner d (W (S k)) (W k) + r k * r k).
    { rewrite R2, EI. unfold r. rewrite norm_square, norm2_inner. ring. }
    rewrite E2. lra.
Qed.

(** Step by step the component along M lags behind the norm by a logarithm at most. *)
Lemma lag : exists C K, 0 < C /\ forall k, r k - C * ln (r k + C) - K <= along_ k.
Proof.
  destruct step_numbers as (C & gain & CP & _ & St).
  set (P := fun k => along_ k - r k + C * ln (r k + C) + sum k moved / C).
  exists C, (path_bound / C - P O). split; [exact CP|].
  assert (RN : forall k, 0 <= r k) by (intros; apply norm_nonneg).
  assert (Up : forall k, P O <= P k).
  { induction k as [|k IH]; [lra|]. apply Rle_trans with (1 := IH).
    destruct (St k) as (S1 & _ & S3). assert (R0 := RN k). assert (R1 := RN (S k)).
    set (q := r (S k)) in *. set (p := r k) in *.
    assert (LnB : 1 - (p + C) / (q + C) <= ln (q + C) - ln (p + C)).
    { assert (X := exp_ineq1_le (ln (p + C) - ln (q + C))). unfold Rminus in X.
      rewrite exp_plus, exp_minus_ln, exp_ln in X by lra. unfold Rdiv. lra. }
    assert (A : (q - p) - C * ((q - p) / (p + C)) <= along_ (S k) - along_ k).
    { apply Rmult_le_reg_r with (p + C); [lra|].
      replace (((q - p) - C * ((q - p) / (p + C))) * (p + C)) with ((q - p) * p) by (field; lra).
      exact S1. }
    assert (E : C * ((q - p) / (p + C)) - C * (1 - (p + C) / (q + C))
                = C * ((q - p) * (q - p) / ((p + C) * (q + C)))) by (field; lra).
    assert (F : C * ((q - p) * (q - p) / ((p + C) * (q + C))) <= moved k / C).
    { apply Rmult_le_reg_r with C; [exact CP|].
      replace (moved k / C * C) with (moved k) by (field; lra).
      apply Rle_trans with (2 := S3).
      assert (SQ := Rle_0_sqr (q - p)). unfold Rsqr in SQ.
      assert (PC : C * C <= (p + C) * (q + C)) by (apply Rmult_le_compat; lra).
      assert (PP : 0 < (p + C) * (q + C)) by (apply Rmult_lt_0_compat; lra).
      apply Rmult_le_reg_r with ((p + C) * (q + C)); [exact PP|].
      replace (C * ((q - p) * (q - p) / ((p + C) * (q + C))) * C * ((p + C) * (q + C)))
        with ((q - p) * (q - p) * (C * C)) by (field; lra).
      apply Rmult_le_compat_l; assumption. }
    assert (G1 : C * (1 - (p + C) / (q + C)) <= C * (ln (q + C) - ln (p + C)))
      by (apply Rmult_le_compat_l; lra).
    unfold P. simpl sum. fold q p. unfold Rdiv in *. lra. }
  intros k. specialize (Up k). unfold P at 2 in Up.
  assert (Sb : sum k moved / C <= path_bound / C)
    by (apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, CP|apply path_bounded]).
  lra.
Qed.

Lemma norm_to_infinity : cv_infty r.
Proof.
  destruct step_numbers as (C0 & gain & _ & GP & St). intros X.
  assert (NP : 0 < nM) by apply (size_M_pos D M solution_positive).
  set (delta := gain * exp (- (X / nM))).
  assert (DP : 0 < delta) by (apply Rmult_lt_0_compat; [exact GP|apply exp_pos]).
  assert (Mono : forall k, along_ k <= along_ (S k)).
  { intros k. destruct (St k) as (_ & S2 & _).
    assert (0 < gain * exp (- (r k / nM))) by (apply Rmult_lt_0_compat; [exact GP|apply exp_pos]).
    lra. }
  assert (Mono' : forall k j, (k <= j)%nat -> along_ k <= along_ j).
  { intros k j L. induction L as [|j _ IH]; [lra|]. assert (A := Mono j). lra. }
  assert (Below : forall k, along_ k <= r k).
  { intros k. unfold along_, r. apply Rmult_le_reg_r with nM; [exact NP|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (C := inner_norm d (W k) M). apply abs_le in C. fold nM in C. lra. }
  destruct (classic (exists N, forall k, (N <= k)%nat -> X < r k)) as [Y|Nn]; [exact Y|].
  assert (Again : forall N, exists k, (N <= k)%nat /\ r k <= X).
  { intros N. apply NNPP. intros F. apply Nn. exists N. intros k L.
    apply Rnot_le_lt. intros Q. apply F. exists k. split; assumption. }
  assert (Many : forall j, exists k, along_ 0%nat + INR j * delta <= along_ k).
  { induction j as [|j (k & IH)].
    - exists 0%nat. simpl. lra.
    - destruct (Again k) as (m & L & Q). exists (S m). rewrite S_INR.
      destruct (St m) as (_ & S2 & _). assert (A := Mono' k m L).
      assert (delta <= gain * exp (- (r m / nM))).
      { apply Rmult_le_compat_l; [lra|]. apply exp_le.
        assert (r m / nM <= X / nM) by (apply Rmult_le_compat_r;
          [apply Rlt_le, Rinv_0_lt_compat|]; lra).
        lra. }
      lra. }
  destruct (INR_unbounded ((X - along_ 0%nat) / delta)) as [j J].
  destruct (Many j) as [k K].
  assert (XA : X < along_ k).
  { apply Rmult_lt_compat_r with (r := delta) in J; [|exact DP].
    unfold Rdiv in J. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in J by lra. lra. }
  destruct (Again k) as (m & L & Q). assert (A := Mono' k m L). assert (A' := Below m). lra.
Qed.

Theorem main_lemma : converges_in_direction d W M.
Proof.
  assert (MP := solution_positive). assert (NP : 0 < nM) by apply (size_M_pos D M MP).
  apply direction_of_components; [exact MP|exact norm_to_infinity|].
  destruct lag as (C & K & CP & L). intros eps He.
  set (X := 2 * C / eps). assert (XP : 0 < X) by (apply Rdiv_lt_0_compat; lra).
  set (K' := eps * C / 2 + C * (ln X - 1) + K).
  destruct (norm_to_infinity (Rabs (2 * K' / eps))) as [N HN]. exists N. intros k Hk.
  specialize (HN k Hk). specialize (L k). assert (A := Rle_abs (2 * K' / eps)).
  assert (RN : 0 <= r k) by apply norm_nonneg.
  assert (LnB : ln (r k + C) <= (r k + C) / X + (ln X - 1)).
  { assert (E := exp_ineq1_le (ln (r k + C) - ln X)). unfold Rminus in E.
    rewrite exp_plus, exp_minus_ln, exp_ln in E by lra. unfold Rdiv. lra. }
  assert (T1 : C * ln (r k + C) <= C * ((r k + C) / X + (ln X - 1)))
    by (apply Rmult_le_compat_l; lra).
  assert (T2 : C * ((r k + C) / X + (ln X - 1)) + K = eps * r k / 2 + K')
    by (unfold K', X; field; lra).
  assert (T3 : K' < eps * r k / 2).
  { assert (Y : 2 * K' / eps < r k) by lra.
    apply Rmult_lt_compat_r with (r := eps) in Y; [|exact He].
    unfold Rdiv in Y. rewrite Rmult_assoc, Rinv_l in Y by lra. lra. }
  fold (r k) nM. fold (along_ k). lra.
Qed.

End Leading.

End Descent.
End Trap.
