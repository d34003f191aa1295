(** * The checks of TrapCheck.v are sound

    Statement: [low_norm_sound] and [trap_sound], as announced in TrapCheck.v.

    Source: docs/theory/global_limits.md, "How the inequality is evaluated". *)

From Coq Require Import Arith Bool ZArith List Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Integers Margins Feasibility Scores Loss Analysis
  AnalysisLimits AnalysisExp LossFacts LossRows TrapSmooth TrapConditions Trap TrapBounds.
From AttSVM Require Export TrapCheck.
Import ListNotations.
Local Open Scope R_scope.

Section Sound.
Variables (D : dataset) (alpha : selection) (c : named_loss) (p k : nat).
Hypothesis WF : well_formed D = true.
Hypothesis best : optimal D alpha.

Let chosen : selects D alpha = true := proj1 best.
Notation d := (dim D).
Notation n := (INR (size D)).
Notation FX := (fx p).
Notation one := (one_fx p).
Notation top := (top D alpha).

Let den_R : IZR (score_den D) = Hd D * Td D.
Proof. unfold score_den. rewrite mult_IZR. reflexivity. Qed.

Lemma score_den_pos : (0 < score_den D)%Z.
Proof. reflexivity. Qed.

Let denP : 0 < IZR (score_den D).
Proof. apply IZR_lt, score_den_pos. Qed.

Notation score_real := (score_real D WF).
Notation top_real := (top_real D alpha WF).
Notation numbers := (numbers D alpha c p k).

(** ** The excess at the start *)

Section Start.
Variables (M : list (list Z)) (q : positive).
Hypothesis shaped : is_matrix d d M = true.

Let W : matrix := rational M q.
Let unit : Z := unit_margin D q.

Lemma unit_pos : (0 < unit)%Z.
Proof. reflexivity. Qed.

Lemma falls_spec : forall i t, (i < size D)%nat -> (t < count D i)%nat ->
  IZR (nth t (falls D alpha M i) 0%Z) / IZR unit
  = - (logit D W i (selected alpha i) - logit D W i t).
Proof.
  intros i t I T. assert (LM := is_matrix_length _ _ _ shaped).
  assert (A := proj2 (selects_spec D alpha chosen) i I).
  assert (LL : length (logits D M i) = count D i) by (unfold logits; apply length_times).
  unfold falls. set (g := fun y => (y - nth (selected alpha i) (logits D M i) 0)%Z).
  rewrite (nth_indep _ 0%Z (g 0%Z)) by (rewrite map_length, LL; exact T).
  rewrite (map_nth g). unfold g. rewrite minus_IZR, !(logits_spec D WF M q) by assumption.
  fold W. fold unit. assert (U : 0 < IZR unit) by (apply IZR_lt, unit_pos). field. lra.
Qed.

Lemma others_fx_spec : forall i f,
  FX (others_fx D alpha i f) = others (count D i) (selected alpha i) (fun t => FX (f t)).
Proof.
  intros i f. unfold others_fx, others. rewrite sum_fx_spec. apply sum_ext. intros t _.
  destruct (t =? selected alpha i); [unfold fx, Rdiv; ring|reflexivity].
Qed.

Lemma deficit_ge : forall i, (i < size D)%nat -> fine_start D alpha p k M q i = true ->
  drop D alpha W i <= FX (deficit D alpha p k M q i).
Proof.
  intros i I F. unfold fine_start in F. assert (F' := all_spec _ _ F).
  set (a := selected alpha i). assert (A := proj2 (selects_spec D alpha chosen) i I). fold a in A.
  set (h := logit D W i). set (e := fun t => exp (- (h a - h t))).
  set (N := others (count D i) a (fun t => e t * gap D alpha i t)).
  set (S := others (count D i) a e).
  assert (Sel : softmax (count D i) h a * (1 + S) = 1)
    by exact (softmax_selected (count D i) a h A).
  assert (SP : 0 <= S) by (apply others_nonneg; intros; apply Rlt_le, exp_pos).
  assert (Dr : drop D alpha W i = N / (1 + S)).
  { assert (E := drop_rows (count D i) a h (score D i) A).
    assert (E' : drop D alpha W i = softmax (count D i) h a * N).
    { unfold drop, output, weight. fold h a. rewrite E. unfold N. rewrite <- others_scale.
      apply others_ext. intros t _ _. rewrite (softmax_margin (count D i) a h t).
      unfold e, gap. fold a. ring. }
    rewrite E'. apply Rmult_eq_reg_r with (1 + S); [|lra].
    transitivity ((softmax (count D i) h a * (1 + S)) * N); [ring|]. rewrite Sel. field. lra. }
  assert (Ex : forall t, (t < count D i)%nat ->
    FX (exp_down p k (nth t (falls D alpha M i) 0%Z) unit) <= e t
    /\ e t <= FX (exp_up p k (nth t (falls D alpha M i) 0%Z) unit)
    /\ (0 <= exp_down p k (nth t (falls D alpha M i) 0%Z) unit)%Z).
  { intros t T. destruct (exp_down_le p k (nth t (falls D alpha M i) 0%Z) unit unit_pos) as [P L].
    assert (U := exp_up_ge p k (nth t (falls D alpha M i) 0%Z) unit unit_pos (F' t T)).
    rewrite (falls_spec i t I T) in L, U. split; [exact L|]. split; [exact U|exact P]. }
  set (den := (one + others_fx D alpha i (fun t => exp_down p k (nth t
    (falls D alpha M i) 0%Z) unit))%Z).
  set (num := others_fx D alpha i (fun t => mul_up p (exp_up p k (nth t
    (falls D alpha M i) 0%Z) unit)
                 (div_up p (topZ D alpha i - scoreZ D i t) (score_den D)))).
  assert (Dn : (0 < den)%Z).
  { assert (O := one_fx_pos p). unfold den.
    assert (0 <= others_fx D alpha i (fun t => exp_down p k (nth t
      (falls D alpha M i) 0%Z) unit))%Z.
    { apply sum_fx_nonneg. intros t T. destruct (t =? selected alpha i); [lia|]. apply Ex, T. }
    lia. }
  assert (DnR : FX den <= 1 + S).
  { unfold den. rewrite fx_plus, fx_one, others_fx_spec. apply Rplus_le_compat_l.
    apply others_le. intros t T _. apply Ex, T. }
  assert (Nm : N <= FX num).
  { unfold num. rewrite others_fx_spec. apply others_le. intros t T Ne.
    eapply Rle_trans; [|apply mul_up_ge].
    assert (G0 : 0 <= gap D alpha i t).
    { unfold gap. assert (S' := proj2 best i t (conj I (conj T Ne))). lra. }
    apply Rmult_le_compat; [apply Rlt_le, exp_pos|exact G0|apply Ex, T|].
    eapply Rle_trans; [|apply div_up_ge, score_den_pos]. unfold gap. rewrite !score_real.
    unfold topZ. rewrite minus_IZR. right. field. lra. }
  assert (N0 : 0 <= N).
  { apply others_nonneg. intros t T Ne. apply Rmult_le_pos; [apply Rlt_le, exp_pos|].
    unfold gap. assert (S' := proj2 best i t (conj I (conj T Ne))). lra. }
  rewrite Dr. unfold deficit. fold unit. fold num. fold den.
  eapply Rle_trans; [|apply quotient_up, Dn]. assert (DP := fx_pos p den Dn).
  apply Rmult_le_compat; [exact N0|apply Rlt_le, Rinv_0_lt_compat; lra|exact Nm|].
  apply Rinv_le_contravar; assumption.
Qed.

Section Excess.
Variable halfway : bool.
Hypothesis accepted : check_start D alpha c p k M q halfway = true.

Lemma start_facts : forall i, (i < size D)%nat ->
  fine_start D alpha p k M q i = true /\
  exp_fine p k (- topZ D alpha i) (score_den D) = true /\
  exp_fine p k (output_arg D alpha p (deficit D alpha p k M q i) i) (one * score_den D) = true /\
  (secondZ D alpha i < topZ D alpha i)%Z.
Proof.
  intros i I. assert (C := accepted). unfold check_start in C. apply andb_true_iff in C.
  destruct C as [C _]. assert (C' := all_spec _ _ C i I). simpl in C'.
  repeat rewrite andb_true_iff in C'. destruct C' as [[[C1 C2] C3] C4].
  apply Z.ltb_lt in C4. auto.
Qed.

Let fi (i : nat) : R := output D W i.
Let cost (u v : R) : R := loss_of c u - loss_of c v.

(** The value that the accumulated excess stands for. *)
Definition meaning (y : R) : R := match c with Logistic => ln y | _ => y end.

Lemma output_exp : forall i, (i < size D)%nat ->
  exp (- fi i) <= FX (exp_up p k (output_arg D alpha p (deficit D alpha p k M q i) i)
                                 (one * score_den D)).
Proof.
  intros i I. destruct (start_facts i I) as (F1 & _ & F3 & _).
  assert (O := one_fx_pos p). assert (OR := one_fx_posR p).
  assert (P : (0 < one * score_den D)%Z) by (apply Z.mul_pos_pos; [exact O|apply score_den_pos]).
  eapply Rle_trans; [|apply exp_up_ge; [exact P|exact F3]]. apply exp_le.
  assert (Df := deficit_ge i I F1). unfold drop in Df. fold (top i) in Df. fold (fi i) in Df.
  rewrite top_real in Df. unfold output_arg. rewrite minus_IZR, !mult_IZR. unfold fx in Df.
  replace ((IZR (deficit D alpha p k M q i) * IZR (score_den D) - IZR (topZ D alpha i) * IZR one)
           / (IZR one * IZR (score_den D)))
    with (IZR (deficit D alpha p k M q i) / IZR one - IZR (topZ D alpha i) / IZR (score_den D))
    by (field; split; lra).
  lra.
Qed.

Lemma top_exp : forall i, (i < size D)%nat ->
  FX (exp_down p k (- topZ D alpha i) (score_den D)) <= exp (- top i)
  /\ exp (- top i) <= FX (exp_up p k (- topZ D alpha i) (score_den D))
  /\ (0 <= exp_down p k (- topZ D alpha i) (score_den D))%Z.
Proof.
  intros i I. destruct (start_facts i I) as (_ & F2 & _ & _).
  destruct (exp_down_le p k (- topZ D alpha i) (score_den D) score_den_pos) as [P L].
  assert (U := exp_up_ge p k (- topZ D alpha i) (score_den D) score_den_pos F2).
  rewrite minus_ratio, <- top_real in L, U. auto.
Qed.

Lemma ln_le : forall y u, 0 < y -> y <= u -> ln y <= ln u.
Proof.
  intros y u P [L| ->]; [apply Rlt_le, ln_increasing; assumption|lra].
Qed.

Lemma ln_quotient : forall y u, 0 < y -> 0 < u -> ln (y / u) = ln y - ln u.
Proof.
  intros y u P Q. unfold Rdiv. rewrite ln_mult by (try apply Rinv_0_lt_compat; assumption).
  rewrite ln_Rinv by assumption. reflexivity.
Qed.

Lemma term_ge : forall i, (i < size D)%nat ->
  cost (fi i) (top i) <= meaning (FX (term D alpha c p k i (deficit D alpha p k M q i))).
Proof.
  intros i I. assert (O := output_exp i I). destruct (top_exp i I) as (L & U & P).
  assert (Ef := exp_pos (- fi i)). assert (Et := exp_pos (- top i)).
  assert (Df := deficit_ge i I (proj1 (start_facts i I))).
  unfold drop in Df. fold (top i) (fi i) in Df.
  unfold cost, meaning, term, loss_of. destruct c.
  - unfold logistic. rewrite <- ln_quotient by lra. apply ln_le; [apply Rdiv_lt_0_compat; lra|].
    eapply Rle_trans; [|apply quotient_up; assert (Z := one_fx_pos p); lia].
    rewrite !fx_plus, fx_one. assert (PR := fx_nonneg p _ P).
    apply Rmult_le_compat; [lra|apply Rlt_le, Rinv_0_lt_compat; lra|lra|].
    apply Rinv_le_contravar; lra.
  - rewrite fx_minus. unfold exponential. lra.
  - unfold correlation. lra.
Qed.

Lemma term_pos : forall i, (i < size D)%nat -> c = Logistic ->
  0 < FX (term D alpha c p k i (deficit D alpha p k M q i)).
Proof.
  intros i I Lg. assert (O := output_exp i I). destruct (top_exp i I) as (L & U & P).
  assert (Ef := exp_pos (- fi i)). unfold term. rewrite Lg.
  assert (Z := one_fx_pos p).
  eapply Rlt_le_trans; [|apply quotient_up; lia].
  apply Rdiv_lt_0_compat; [|apply fx_pos; lia]. rewrite fx_plus, fx_one. lra.
Qed.

Lemma excess_up_ge : forall m, (m <= size D)%nat ->
  sum m (fun i => cost (fi i) (top i)) <= meaning (FX (excess_up D alpha c p k M q m))
  /\ (c = Logistic -> 0 < FX (excess_up D alpha c p k M q m)).
Proof.
  induction m as [|m IH]; intros L.
  - simpl. unfold meaning. destruct c; rewrite ?fx_one, ?ln_1; unfold fx, Rdiv; split; intros;
      try discriminate; lra.
  - destruct IH as [B P]; [lia|]. assert (T := term_ge m L). assert (TP := term_pos m L).
    simpl. unfold meaning, joined in *. destruct c.
    + specialize (P eq_refl). specialize (TP eq_refl).
      assert (Ge := mul_up_ge p (excess_up D alpha Logistic p k M q m)
                      (term D alpha Logistic p k m (deficit D alpha p k M q m))).
      assert (PP := Rmult_lt_0_compat _ _ P TP). split; [|intros; lra].
      eapply Rle_trans; [|apply ln_le; [exact PP|exact Ge]]. rewrite ln_mult by assumption. lra.
    + rewrite fx_plus. split; [lra|discriminate].
    + rewrite fx_plus. split; [lra|discriminate].
Qed.

Let lev (i : nat) : R := IZR (level D alpha halfway i) / IZR (2 * score_den D).

Lemma limit_down_le : forall i, (i < size D)%nat ->
  (c = Logistic -> 0 < FX (limit_down D alpha c p k halfway i)) ->
  meaning (FX (limit_down D alpha c p k halfway i)) <= cost (lev i) (top i).
Proof.
  intros i I Pos. destruct (top_exp i I) as (L & U & P).
  assert (D2 : (0 < 2 * score_den D)%Z) by (assert (X := score_den_pos); lia).
  destruct (exp_down_le p k (- level D alpha halfway i) (2 * score_den D) D2) as [P' L'].
  rewrite minus_ratio in L'. fold (lev i) in L'.
  assert (El := exp_pos (- lev i)). assert (Et := exp_pos (- top i)).
  unfold meaning, limit_down, cost, loss_of in *. destruct c.
  - unfold logistic. rewrite <- ln_quotient by lra. apply ln_le; [apply Pos; reflexivity|].
    assert (UP : (0 < one + exp_up p k (- topZ D alpha i) (score_den D))%Z).
    { apply (fx_pos_inv p). rewrite fx_plus, fx_one. lra. }
    eapply Rle_trans; [apply quotient_down, UP|]. rewrite !fx_plus, fx_one.
    assert (PR := fx_nonneg p _ P').
    apply Rmult_le_compat; [lra|apply Rlt_le, Rinv_0_lt_compat; lra|lra|].
    apply Rinv_le_contravar; lra.
  - rewrite fx_minus. unfold exponential. lra.
  - eapply Rle_trans; [apply div_down_le, D2|]. unfold correlation, lev. rewrite top_real.
    rewrite minus_IZR, !mult_IZR. right. field. lra.
Qed.

Lemma excess_small : forall i, (i < size D)%nat ->
  sum (size D) (fun j => cost (fi j) (top j)) < cost (lev i) (top i).
Proof.
  intros i I. assert (C := accepted). unfold check_start in C. apply andb_true_iff in C.
  destruct C as [_ C]. assert (C' := all_spec _ _ C i I). simpl in C'. apply Z.ltb_lt in C'.
  destruct (excess_up_ge (size D) (le_n _)) as [B P].
  apply Rle_lt_trans with (1 := B). apply (fx_lt p) in C'.
  assert (Lim : c = Logistic -> 0 < FX (limit_down D alpha c p k halfway i))
    by (intros E; specialize (P E); lra).
  apply Rlt_le_trans with (2 := limit_down_le i I Lim).
  unfold meaning. destruct c; [|exact C'|exact C'].
  apply ln_increasing; [apply P; reflexivity|exact C'].
Qed.

Lemma start_small : small_loss D alpha (loss_of c) lev W.
Proof.
  intros i I. assert (E := excess_small i I). unfold cost in E. rewrite sum_minus in E.
  assert (NP := lt_0_INR _ (well_formed_size D WF)).
  unfold loss, loss_star. rewrite <- Rmult_plus_distr_l.
  apply Rmult_lt_compat_l; [apply Rinv_0_lt_compat, NP|]. fold W. unfold fi in E. lra.
Qed.

Lemma level_real : forall i, lev i
  = if halfway then (top i + second numbers i) / 2 else second numbers i.
Proof.
  intros i. unfold lev, level.
  change (second numbers i) with (IZR (secondZ D alpha i) / IZR (score_den D)).
  rewrite top_real, plus_IZR, mult_IZR.
  destruct halfway; field; lra.
Qed.

End Excess.
End Start.
End Sound.

(** ** Soundness *)

Lemma loss_entries : forall l D V W,
  (forall p q, (p < dim D)%nat -> (q < dim D)%nat -> V p q = W p q) -> loss l D V = loss l D W.
Proof.
  intros l D V W E. unfold loss. f_equal. apply sum_ext. intros i _. f_equal.
  apply value_ext; [|reflexivity]. intros t _. unfold logit, form. apply sum_ext. intros a A.
  apply sum_ext. intros b B. rewrite E by assumption. reflexivity.
Qed.

Lemma small_loss_entries : forall D alpha l level V W,
  (forall p q, (p < dim D)%nat -> (q < dim D)%nat -> V p q = W p q) ->
  small_loss D alpha l level W -> small_loss D alpha l level V.
Proof.
  intros D alpha l level V W E S i I. rewrite (loss_entries l D V W E). exact (S i I).
Qed.

Lemma small_loss_levels : forall D alpha l f g W,
  (forall i, f i = g i) -> small_loss D alpha l f W -> small_loss D alpha l g W.
Proof. intros D alpha l f g W E S i I. rewrite <- E. exact (S i I). Qed.

Theorem low_norm_sound : forall D alpha c p k M q en ed S qs,
  check_low_norm D alpha c p k M q en ed S qs = true ->
  limit_from (loss_of c) D alpha (rational M q) (ratio (Zpos en) ed).
Proof.
  intros D alpha c p k M q en ed S qs C. unfold check_low_norm in C.
  repeat rewrite andb_true_iff in C. destruct C as [[[[C1 C2] C3] C4] C5].
  assert (best := optimal_sound D alpha C1). assert (F := feasible_sound D alpha S qs C3).
  assert (WF : well_formed D = true).
  { unfold check_feasible in C3. repeat rewrite andb_true_iff in C3.
    apply (about_spec D alpha), C3. }
  destruct (step_small D alpha c p k WF best en ed C4) as (Fine & EP & ES).
  split; [exact best|]. intros W G St E0.
  assert (Sec : forall i, (i < size D)%nat -> (secondZ D alpha i < topZ D alpha i)%Z)
    by (intros i I; apply (start_facts D alpha c p k M q false C5 i I)).
  apply (low_norm_limit D alpha (numbers D alpha c p k) (loss_of c) (slope_of c) (bend_of c)
           (loss_smooth c) WF best (bounded_numbers D alpha c p k WF Fine Sec) W G
           (ratio (Zpos en) ed) EP ES St F).
  apply (small_loss_entries D alpha _ _ _ (rational M q) E0).
  apply (small_loss_levels D alpha _ _ _ _
           (level_real D alpha c p k WF M q false C5)).
  exact (start_small D alpha c p k WF best M q C2 false C5).
Qed.

Theorem trap_sound : forall D alpha c p k M q en ed,
  check_trap D alpha c p k M q en ed = true ->
  trapped_from (loss_of c) D alpha (rational M q) (ratio (Zpos en) ed).
Proof.
  intros D alpha c p k M q en ed C. unfold check_trap in C.
  repeat rewrite andb_true_iff in C. destruct C as [[[C1 C2] C3] C4].
  assert (best := optimal_sound D alpha C1).
  assert (WF : well_formed D = true).
  { unfold check_optimal in C1. apply andb_true_iff in C1. apply (about_spec D alpha), C1. }
  destruct (step_small D alpha c p k WF best en ed C3) as (Fine & EP & ES).
  assert (Sec : forall i, (i < size D)%nat -> (secondZ D alpha i < topZ D alpha i)%Z)
    by (intros i I; apply (start_facts D alpha c p k M q true C4 i I)).
  assert (Small := start_small D alpha c p k WF best M q C2 true C4).
  apply (small_loss_levels D alpha _ _ _ _ (level_real D alpha c p k WF M q true C4)) in Small.
  assert (Bn := bounded_numbers D alpha c p k WF Fine Sec).
  assert (All : forall W G, descent (loss_of c) D (fun _ => ratio (Zpos en) ed) W G ->
    (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> W 0%nat a b = rational M q a b) ->
    feasible D alpha /\ converges_to_solution D alpha W /\ trapped D alpha W).
  { intros W G St E0.
    apply (selection_trap D alpha (numbers D alpha c p k) (loss_of c) (slope_of c) (bend_of c)
             (loss_smooth c) WF best Bn W G (ratio (Zpos en) ed) EP ES St).
    exact (small_loss_entries D alpha _ _ _ _ E0 Small). }
  split; [exact best|]. split.
  - set (P := fix path (k : nat) : matrix := match k with
      | O => rational M q
      | S k => fun a b => path k a b - ratio (Zpos en) ed * gradient (slope_of c) D (path k) a b
      end).
    apply (All P (fun k => gradient (slope_of c) D (P k))).
    + intros j. split; [apply loss_gradient; [apply loss_smooth|exact WF]|reflexivity].
    + reflexivity.
  - intros W G St E0. exact (proj2 (All W G St E0)).
Qed.
