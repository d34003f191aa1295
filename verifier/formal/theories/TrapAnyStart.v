(** * Any start: equal scores and features without obtuse angles

    Statement ([any_start]): let every sample have one token of largest score, collected in alpha,
    and equal scores elsewhere (B.2); let no feature phi_it of a rejected token be 0 and no two
    have a negative inner product. Let l' < 0 with l'' bounded on the scores and 0 < eta < 2/beta.
    Then gradient descent W_{k+1} = W_k - eta grad L(W_k) from every W_0 converges in direction to
    the solution of Att-SVM(alpha).

    Outside: gradient flow.

    Source: docs/theory/global_limits.md, "Repaired Theorem 4"; arXiv 2308.16898 v1, Theorem 4. *)

From Coq Require Import Arith Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Existence Loss Analysis AnalysisLimits
  LossFacts LossRows TrapSmooth TrapConditions TrapStep TrapDescent TrapPath Trap.
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

Hypothesis equal : forall i t, rejected D alpha i t -> score D i t = second b i.
Hypothesis acute : forall i t j u, rejected D alpha i t -> rejected D alpha j u ->
  0 <= inner d (phi D alpha i t) (phi D alpha j u).
Hypothesis nonzero : forall i t, rejected D alpha i t -> 0 < norm2 d (phi D alpha i t).

(** The sum of all features separates. *)
Lemma features_feasible : feasible D alpha.
Proof.
  apply (feasible_of_positive D alpha
    (fun p q => rows D alpha (fun i t => phi D alpha i t p q)) formed).
  intros j u J.
  assert (E : margin D alpha (fun p q => rows D alpha (fun i t => phi D alpha i t p q)) j u
              = rows D alpha (fun i t => inner d (phi D alpha i t) (phi D alpha j u))).
  { rewrite margin_inner, inner_comm. unfold rows, others.
    rewrite (inner_sum d _ (fun i p q => sum (count D i) (fun t =>
      if t =? selected alpha i then 0 else phi D alpha i t p q))).
    apply sum_ext. intros i _.
    rewrite (inner_sum d _ (fun t p q =>
      if t =? selected alpha i then 0 else phi D alpha i t p q)).
    apply sum_ext. intros t _. destruct (t =? selected alpha i); [|reflexivity].
    unfold inner. apply sum_zero. intros. apply sum_zero. intros. ring. }
  rewrite E. apply Rlt_le_trans with (1 := nonzero j u J).
  apply (rows_term D alpha (fun i t => inner d (phi D alpha i t) (phi D alpha j u)));
    [intros i t R; apply acute; assumption|exact J].
Qed.

(** With equal scores the output is that of the weight of the optimal token alone. *)
Lemma output_lead : forall W i, (i < size D)%nat ->
  output D W i - second b i = weight D W i (selected alpha i) * (top i - second b i).
Proof.
  intros W i I. assert (Cp := well_formed_count D formed i I).
  assert (A : (selected alpha i < count D i)%nat)
    by (apply (proj2 (selects_spec D alpha chosen)), I).
  assert (E : output D W i - second b i
              = sum (count D i) (fun t => weight D W i t * (score D i t - second b i))).
  { rewrite (sum_ext _ _ (fun t => weight D W i t * score D i t - second b i * weight D W i t))
      by (intros; ring).
    rewrite sum_minus, sum_scale. unfold weight at 2. rewrite softmax_sum by exact Cp.
    rewrite Rmult_1_r. reflexivity. }
  rewrite E, (sum_others _ (selected alpha i)) by exact A.
  rewrite (others_ext _ _ _ (fun _ => 0 * 0)).
  - rewrite others_scale. unfold TrapConditions.top. ring.
  - intros t T N. rewrite (equal i t) by (repeat split; assumption). ring.
Qed.

Section Descent.
Variables (W G : nat -> matrix) (eta : R).
Hypothesis eta_pos : 0 < eta.
Hypothesis eta_small : eta * beta < 2.
Hypothesis steps : descent l D (fun _ => eta) W G.

Lemma pull_nonneg : forall V i t, rejected D alpha i t -> 0 <= pull dl D alpha V i t.
Proof.
  intros V i t R. assert (R' := R). destruct R' as (I & T & N).
  assert (Cp := well_formed_count D formed i I).
  unfold pull. destruct (decreasing (output D V i)) as [_ Neg].
  assert (P : 0 < weight D V i t) by (apply softmax_pos, Cp).
  assert (A : 0 < weight D V i (selected alpha i)) by (apply softmax_pos, Cp).
  assert (E := output_lead V i I). assert (S := second_below D alpha b dl ddl B i I).
  apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra|].
  unfold gap, drop. rewrite (equal i t R). fold (top i). nra.
Qed.

Lemma margins_rise : forall k j u, rejected D alpha j u ->
  margin D alpha (W 0%nat) j u <= margin D alpha (W k) j u.
Proof.
  intros k j u J. induction k as [|k IH]; [lra|]. apply Rle_trans with (1 := IH).
  destruct (steps k) as [Gk Wk].
  assert (Sl := slope_rows l dl D alpha (W k) (phi D alpha j u) _ decreasing formed chosen
                  (Gk (phi D alpha j u))).
  assert (P : 0 <= rows D alpha (fun i t => pull dl D alpha (W k) i t
                                           * margin D alpha (phi D alpha j u) i t)).
  { apply rows_nonneg. intros i t R. apply Rmult_le_pos; [apply pull_nonneg, R|].
    rewrite margin_inner. apply acute; assumption. }
  rewrite <- Sl in P.
  assert (Q : inner d (G k) (phi D alpha j u) <= 0) by nra.
  rewrite !margin_inner, !(inner_comm d (phi D alpha j u)).
  rewrite (inner_ext d (W (S k)) (phi D alpha j u) (fun p q => W k p q - eta * G k p q)
             (phi D alpha j u)) by auto.
  rewrite inner_minus, inner_scale. nra.
Qed.

Lemma weight_rises : forall k i, (i < size D)%nat ->
  weight D (W 0%nat) i (selected alpha i) <= weight D (W k) i (selected alpha i).
Proof.
  intros k i I. set (a := selected alpha i).
  assert (A : (a < count D i)%nat) by (apply (proj2 (selects_spec D alpha chosen)), I).
  assert (E0 := softmax_selected (count D i) a (logit D (W 0%nat) i) A).
  assert (Ek := softmax_selected (count D i) a (logit D (W k) i) A).
  fold (weight D (W 0%nat) i a) in E0. fold (weight D (W k) i a) in Ek.
  change (softmax (count D i) (logit D (W 0%nat) i) a) with (weight D (W 0%nat) i a) in E0.
  change (softmax (count D i) (logit D (W k) i) a) with (weight D (W k) i a) in Ek.
  set (o0 := others _ _ _) in E0. set (ok := others _ _ _) in Ek.
  assert (L : ok <= o0).
  { apply others_le. intros t T N. apply exp_le.
    assert (Mr := margins_rise k i t (conj I (conj T N))). rewrite !margin_logit in Mr.
    fold a in Mr. lra. }
  assert (O : 0 <= ok) by (apply others_nonneg; intros; apply Rlt_le, exp_pos).
  assert (P0 : 0 < weight D (W 0%nat) i a) by (apply softmax_pos, well_formed_count; assumption).
  assert (Pk : 0 < weight D (W k) i a) by (apply softmax_pos, well_formed_count; assumption).
  apply Rmult_le_reg_r with (1 + ok); [lra|]. rewrite Ek.
  apply Rle_trans with (weight D (W 0%nat) i a * (1 + o0)); [|lra].
  apply Rmult_le_compat_l; lra.
Qed.

Theorem any_start : converges_to_solution D alpha W.
Proof.
  set (lead := fun i => weight D (W 0%nat) i (selected alpha i) * (top i - second b i)).
  assert (LP : forall i, (i < size D)%nat -> 0 < lead i).
  { intros i I. assert (S := second_below D alpha b dl ddl B i I).
    apply Rmult_lt_0_compat; [apply softmax_pos, well_formed_count; assumption|lra]. }
  destruct (finite_max (size D) (fun i => - lead i) (well_formed_size D formed)) as (j & J & Mj).
  destruct (solution_exists D alpha features_feasible) as [M O]. exists M. split; [exact O|].
  apply (main_lemma D alpha b l dl ddl smooth formed best B M W G eta O eta_pos eta_small steps
           (lead j) (LP j J)).
  intros k i I. assert (E := output_lead (W k) i I). assert (Wr := weight_rises k i I).
  assert (S := second_below D alpha b dl ddl B i I). specialize (Mj i I).
  assert (lead i <= weight D (W k) i (selected alpha i) * (top i - second b i))
    by (apply Rmult_le_compat_r; lra).
  lra.
Qed.

End Descent.
End Trap.
