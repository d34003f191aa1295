(** * The low-norm limit and the selection trap

    Statement: let every sample have one token of largest score, collected in the selection
    alpha, l' < 0 with l'' bounded on the scores, and 0 < eta < 2/beta for the smoothness constant
    beta of TrapConditions.v. Let W_{k+1} = W_k - eta grad L(W_k), L the actual loss.

    [low_norm_limit]: if Att-SVM(alpha) is feasible and
    L(W_0) < L_* + 1/n (l(gamma_i(2)) - l(gamma_i(1))) for all i, then |W_k| tends to infinity and
    W_k / |W_k| to M / |M|, M the solution of Att-SVM(alpha).
    [large_first_step]: so it does if a first step of any other size leads to such a matrix.
    [selection_trap]: if L(W_0) < L_* + 1/n (l((gamma_i(1) + gamma_i(2))/2) - l(gamma_i(1))) for
    all i, then Att-SVM(alpha) is feasible, W_k converges in the same way, every optimal token has
    a weight above 1/2 and every margin is positive for ever, and |W_k| increases strictly.

    No condition on the norm or the direction of W_0. L(W_0) and beta are real numbers here;
    TrapCheck.v evaluates the inequalities in integers. Outside: gradient flow.

    Source: docs/theory/global_limits.md, "Low-norm limit and trap"; arXiv 2308.16898 v1,
    Theorem 6 (repaired). *)

From Coq Require Import Arith Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Existence Loss Analysis AnalysisLimits
  LossFacts LossRows TrapSmooth TrapConditions TrapStep TrapDescent TrapPath.
Local Open Scope R_scope.

(** A matrix of positive margins separates after scaling. *)
Lemma feasible_of_positive : forall D alpha W, well_formed D = true ->
  (forall i t, rejected D alpha i t -> 0 < margin D alpha W i t) -> feasible D alpha.
Proof.
  intros D alpha W F P. destruct (rows_min D alpha (margin D alpha W) F) as (i & t & R & H).
  set (mu := margin D alpha W i t) in *. assert (MP : 0 < mu) by (apply P, R).
  exists (fun p q => / mu * W p q). intros j u J. specialize (H j u J).
  rewrite margin_inner, inner_comm, inner_scale, inner_comm, <- margin_inner.
  apply Rmult_le_reg_l with mu; [exact MP|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.

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

(** Facts of the preceding files about this dataset. *)
Let scores_between := scores_between D alpha b dl ddl best B.
Let output_range := output_range D alpha b dl ddl formed best B.
Let loss_function := loss_function l dl ddl smooth.
Let loss_function_decreasing := loss_function_decreasing l dl ddl smooth.

Section Descent.
Variables (W G : nat -> matrix) (eta : R).
Hypothesis eta_pos : 0 < eta.
Hypothesis eta_small : eta * beta < 2.
Hypothesis steps : descent l D (fun _ => eta) W G.

Let loss_never_above :=
  loss_never_above D alpha b l dl ddl smooth formed best B W G eta eta_pos eta_small steps.
Let main_lemma M solved :=
  main_lemma D alpha b l dl ddl smooth formed best B M W G eta solved eta_pos eta_small steps.

(** ** Starts of small loss *)

(** The excess loss of one sample is at most that of all. *)
Lemma excess : forall k i, (i < size D)%nat ->
  l (output D (W k) i) - l (top i) <= n * (loss l D (W 0%nat) - loss_star l).
Proof.
  intros k i I.
  assert (E : n * (loss l D (W k) - loss_star l)
              = sum (size D) (fun j => l (output D (W k) j) - l (top j))).
  { rewrite sum_minus. unfold TrapConditions.loss_star, loss. field. lra. }
  apply Rle_trans with (n * (loss l D (W k) - loss_star l)).
  - rewrite E. apply (sum_term _ (fun j => l (output D (W k) j) - l (top j))); [|exact I].
    intros j J. assert (X := loss_function_decreasing _ _ (proj2 (output_range (W k) j J))). lra.
  - apply Rmult_le_compat_l; [lra|]. assert (X := loss_never_above k). lra.
Qed.

(** Outputs that stay above a level that a sufficiently small loss excludes. *)
Lemma kept_above : forall level,
  (forall i, (i < size D)%nat -> lowest b i <= level i < top i) ->
  (forall i, (i < size D)%nat ->
     loss l D (W 0%nat) < loss_star l + / n * (l (level i) - l (top i))) ->
  exists epsilon, 0 < epsilon /\
  forall k i, (i < size D)%nat -> level i + epsilon <= output D (W k) i.
Proof.
  intros level Lv Small.
  set (X := n * (loss l D (W 0%nat) - loss_star l)).
  set (gain := fun i => (l (level i) - l (top i) - X) / first_derivative b i).
  assert (Fp : forall i, (i < size D)%nat -> 0 < first_derivative b i).
  { intros i I. assert (Q := bounded_first D alpha b dl ddl B i (top i) I).
    destruct (decreasing (top i)).
    assert (Z := Lv i I). specialize (Q ltac:(lra)). lra. }
  assert (Gp : forall i, (i < size D)%nat -> 0 < gain i).
  { intros i I. apply Rdiv_lt_0_compat; [|apply Fp, I]. specialize (Small i I).
    assert (Y : n * (loss l D (W 0%nat) - loss_star l) < l (level i) - l (top i)).
    { apply Rmult_lt_reg_l with (/ n); [apply Rinv_0_lt_compat, n_pos|].
      rewrite <- Rmult_assoc, Rinv_l by lra. lra. }
    fold X in Y. lra. }
  destruct (finite_max (size D) (fun i => - gain i) (well_formed_size D formed)) as (j & J & Mj).
  exists (gain j). split; [apply Gp, J|]. intros k i I.
  apply Rle_trans with (level i + gain i); [specialize (Mj i I); lra|].
  assert (Ex := excess k i I). fold X in Ex. assert (GI := Gp i I). assert (FI := Fp i I).
  assert (GE : gain i * first_derivative b i = l (level i) - l (top i) - X)
    by (unfold gain; field; lra).
  assert (GF : 0 < gain i * first_derivative b i) by (apply Rmult_lt_0_compat; assumption).
  assert (Or := output_range (W k) i I). assert (Z := Lv i I).
  destruct (Rlt_dec (level i) (output D (W k) i)) as [Lt|Ge].
  - destruct (loss_function _ _ Lt) as (v & V & E).
    assert (F := bounded_first D alpha b dl ddl B i v I ltac:(lra)).
    assert (Hy : gain i * first_derivative b i
                 <= first_derivative b i * (output D (W k) i - level i)).
    { apply Rle_trans with (- dl v * (output D (W k) i - level i)); [lra|].
      apply Rmult_le_compat_r; lra. }
    apply Rmult_le_reg_l with (first_derivative b i); [exact FI|]. lra.
  - assert (Y := loss_function_decreasing (output D (W k) i) (level i)). lra.
Qed.

Lemma lowest_below : forall i, (i < size D)%nat -> lowest b i <= second b i < top i.
Proof.
  intros i I. split; [|apply (second_below D alpha b dl ddl B), I].
  destruct (rejected_exists D alpha formed i I) as [t R].
  apply Rle_trans with (score D i t).
  - apply scores_between; apply R.
  - apply (second_score D alpha b dl ddl B), R.
Qed.

(** What the low-norm inequality says, with the level between the two largest scores. *)
Definition small_loss (level : nat -> R) (W0 : matrix) : Prop :=
  forall i, (i < size D)%nat -> loss l D W0 < loss_star l + / n * (l (level i) - l (top i)).

Theorem low_norm_limit : feasible D alpha -> small_loss (second b) (W 0%nat) ->
  converges_to_solution D alpha W.
Proof.
  intros F Small. destruct (kept_above (second b) lowest_below Small) as (epsilon & P & K).
  destruct (solution_exists D alpha F) as [M O]. exists M. split; [exact O|].
  exact (main_lemma M O epsilon P K).
Qed.

(** ** The trap *)

Section Halfway.
Variable epsilon : R.
Hypothesis epsilon_pos : 0 < epsilon.
Hypothesis kept : forall k i, (i < size D)%nat ->
  (top i + second b i) / 2 + epsilon <= output D (W k) i.

Lemma optimal_weight : forall k i, (i < size D)%nat ->
  / 2 < weight D (W k) i (selected alpha i).
Proof.
  intros k. intros i I. assert (Z := lowest_below i I). assert (K := kept k i I).
    set (e := (top i - second b i) / 2 + epsilon).
    assert (S := selected_weight_low D alpha (W k) i formed chosen I (second b i) e).
    fold (top i) in S.
    apply Rlt_le_trans with (e / (top i - second b i)).
    - apply Rmult_lt_reg_r with (top i - second b i); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. unfold e. lra.
    - apply S; [|lra|unfold e; lra].
      intros t R. apply (second_score D alpha b dl ddl B), R.
Qed.

Lemma positive_margin : forall k i t, rejected D alpha i t -> 0 < margin D alpha (W k) i t.
Proof.
  intros k. intros i t R. assert (R' := R). destruct R' as (I & T & N).
    assert (Half := optimal_weight k i I). set (a := selected alpha i) in *.
    assert (A : (a < count D i)%nat) by (apply (proj2 (selects_spec D alpha chosen)), I).
    assert (Cp := well_formed_count D formed i I).
    assert (S1 : sum (count D i) (weight D (W k) i) = 1) by (apply softmax_sum, Cp).
    rewrite (sum_others _ a) in S1 by exact A.
    assert (S2 : weight D (W k) i t <= others (count D i) a (weight D (W k) i)).
    { assert (Q := sum_term (count D i) (fun u => if Nat.eqb u a then 0 else weight D (W k) i u) t).
      simpl in Q. assert (N' := N). apply Nat.eqb_neq in N'. rewrite N' in Q. apply Q; [|exact T].
      intros u U. destruct (Nat.eqb u a); [lra|]. apply Rlt_le, softmax_pos, Cp. }
    assert (E : weight D (W k) i t = weight D (W k) i a * exp (- margin D alpha (W k) i t)).
    { rewrite margin_logit. apply (softmax_margin (count D i) a (logit D (W k) i)). }
    rewrite E in S2. apply Rnot_le_lt. intros Neg.
    assert (X := exp_ineq1_le (- margin D alpha (W k) i t)). nra.
Qed.

Lemma norm_increases : forall k, norm d (W k) < norm d (W (S k)).
Proof.
  intros k.
  assert (Lead : forall k i, (i < size D)%nat -> second b i + epsilon <= output D (W k) i)
    by (intros j i I; assert (K := kept j i I); assert (Z := lowest_below i I); lra).
  destruct (weight_bounds D alpha b l dl ddl smooth formed best B W epsilon epsilon_pos Lead)
    as (least & most & LP & Wb).
  assert (Wp := weight_pos D alpha dl least most LP (W k) (Wb k)).
  destruct (steps k) as [Gk Wk].
  assert (Sl := slope_rows l dl D alpha (W k) (W k) _ decreasing formed chosen (Gk (W k))).
  assert (Tp : 0 < rows D alpha (fun i t => pull dl D alpha (W k) i t * margin D alpha (W k) i t)).
  { destruct (rejected_exists D alpha formed 0 (well_formed_size D formed)) as [t R].
    assert (Q : forall i u, rejected D alpha i u ->
      0 < pull dl D alpha (W k) i u * margin D alpha (W k) i u)
      by (intros; apply Rmult_lt_0_compat; (auto; apply (positive_margin k); assumption)).
    apply Rlt_le_trans with (1 := Q _ _ R).
    apply (rows_term D alpha (fun i t => pull dl D alpha (W k) i t * margin D alpha (W k) i t));
      [intros; apply Rlt_le, Q; assumption|exact R]. }
  rewrite <- Sl in Tp. assert (Nb : inner d (G k) (W k) < 0) by nra.
  assert (EI : forall V, inner d (W (S k)) V = inner d (W k) V - eta * inner d (G k) V).
  { intros V. rewrite (inner_ext d (W (S k)) V (fun p q => W k p q - eta * G k p q) V) by auto.
    rewrite inner_minus, inner_scale. reflexivity. }
  assert (N2 : norm2 d (W (S k)) = norm2 d (W k) - 2 * eta * inner d (G k) (W k) + moved D G eta k).
  { unfold moved. rewrite !norm2_inner, EI, (inner_comm d (W k)), EI.
    rewrite (inner_comm d (G k) (W (S k))), EI, (inner_comm d (W k) (G k)). ring. }
  unfold norm. apply sqrt_lt_1_alt. split; [apply norm2_nonneg|]. rewrite N2.
  assert (Mn := moved_nonneg D G eta k). assert (eta * inner d (G k) (W k) < 0) by nra. lra.
Qed.

End Halfway.

Theorem selection_trap : small_loss (fun i => (top i + second b i) / 2) (W 0%nat) ->
  feasible D alpha /\ converges_to_solution D alpha W /\ trapped D alpha W.
Proof.
  intros Small.
  assert (Lv : forall i, (i < size D)%nat -> lowest b i <= (top i + second b i) / 2 < top i)
    by (intros i I; assert (Z := lowest_below i I); lra).
  destruct (kept_above _ Lv Small) as (epsilon & P & K).
  assert (F : feasible D alpha)
    by exact (feasible_of_positive D alpha (W 0%nat) formed (positive_margin epsilon P K 0)).
  split; [exact F|]. split.
  - destruct (solution_exists D alpha F) as [M O]. exists M. split; [exact O|].
    apply (main_lemma M O epsilon P). intros k i I.
    specialize (K k i I). assert (Z := lowest_below i I). lra.
  - intros k. split; [|split].
    + exact (optimal_weight epsilon P K k).
    + exact (positive_margin epsilon P K k).
    + exact (norm_increases epsilon P K k).
Qed.

End Descent.

(** ** A first step of another size *)

Lemma converges_shifted : forall V M,
  converges_in_direction d (fun k => V (S k)) M -> converges_in_direction d V M.
Proof.
  intros V M [H1 H2]. split.
  - intros X. destruct (H1 X) as [N H]. exists (S N). intros k K.
    destruct k as [|k]; [lia|]. apply H. lia.
  - intros p q P Q eps He. destruct (H2 p q P Q eps He) as [N H]. exists (S N). intros k K.
    destruct k as [|k]; [lia|]. apply H. lia.
Qed.

Theorem large_first_step : forall W G eta_0 eta, 0 < eta -> eta * beta < 2 ->
  descent l D (fun k => match k with O => eta_0 | S _ => eta end) W G ->
  feasible D alpha -> small_loss (second b) (W 1%nat) -> converges_to_solution D alpha W.
Proof.
  intros W G eta_0 eta P S St F Small.
  destruct (low_norm_limit (fun k => W (Datatypes.S k)) (fun k => G (Datatypes.S k)) eta P S)
    as (M & O & C); try assumption.
  - intros k. exact (St (Datatypes.S k)).
  - exists M. split; [exact O|]. apply converges_shifted, C.
Qed.

End Trap.
