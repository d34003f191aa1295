(** * The bounds of TrapCheck.v are sound

    Statement: the integers of TrapCheck.v give numbers that meet the conditions of
    TrapConditions.v ([bounded_numbers]), and [check_step] proves that the step size is below
    2/beta for them ([step_small]).

    Source: docs/theory/global_limits.md, "Smoothness". *)

From Coq Require Import Arith Bool ZArith List Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Integers Margins Feasibility Scores Loss Analysis
  AnalysisLimits AnalysisExp LossFacts LossRows TrapSmooth TrapConditions TrapCheck.
Import ListNotations.
Local Open Scope R_scope.

(** ** Sums and maxima *)

Lemma sum_fx_spec : forall p n f, fx p (sum_fx n f) = sum n (fun t => fx p (f t)).
Proof.
  intros p n f. assert (Z0 : fx p 0 = 0) by (unfold fx, Rdiv; ring).
  assert (G : forall m z, fx p (fold_right (fun t r => (f t + r)%Z) z (seq 0 m))
                          = sum m (fun t => fx p (f t)) + fx p z).
  { induction m as [|m IH]; intros z; [simpl; ring|].
    rewrite seq_S, fold_right_app. simpl. rewrite IH, fx_plus. ring. }
  unfold sum_fx. rewrite G, Z0. ring.
Qed.

Lemma sum_fx_nonneg : forall n f, (forall t, (t < n)%nat -> (0 <= f t)%Z) -> (0 <= sum_fx n f)%Z.
Proof.
  intros n f H. unfold sum_fx.
  assert (G : forall l, (forall t, In t l -> (0 <= f t)%Z) ->
                        (0 <= fold_right (fun t r => (f t + r)%Z) 0%Z l)%Z).
  { induction l as [|t l IH]; intros P; simpl; [lia|].
    assert (A := P t (or_introl eq_refl)). assert (B := IH (fun u U => P u (or_intror U))). lia. }
  apply G. intros t T. apply H. apply in_seq in T. lia.
Qed.

Lemma max_fx_ge : forall n f t, (t < n)%nat -> (f t <= max_fx n f)%Z.
Proof.
  intros n f t T. unfold max_fx.
  assert (G : forall l z, In t l -> (f t <= fold_right (fun t r => Z.max (f t) r) z l)%Z).
  { induction l as [|u l IH]; intros z I; [destruct I|]. destruct I as [-> |I]; simpl; [lia|].
    specialize (IH z I). lia. }
  apply G, in_seq. lia.
Qed.

(** ** Losses *)

Lemma loss_smooth : forall c, smooth_loss (loss_of c) (slope_of c) (bend_of c).
Proof.
  intros [| |]; [exact logistic_smooth|exact exponential_smooth|exact correlation_smooth].
Qed.

(** The square of the norm of u wᵀ. *)
Lemma norm2_outer : forall d u w,
  norm2 d (fun a b => u a * w b) = sum d (fun a => u a * u a) * sum d (fun b => w b * w b).
Proof.
  intros d u w. unfold norm2. rewrite <- sum_scale_r. apply sum_ext. intros a _.
  rewrite <- sum_scale. apply sum_ext. intros b _. ring.
Qed.

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

Lemma score_real : forall i t, score D i t = IZR (scoreZ D i t) / IZR (score_den D).
Proof. intros. rewrite (score_spec D WF), den_R. reflexivity. Qed.

Lemma top_real : forall i, top i = IZR (topZ D alpha i) / IZR (score_den D).
Proof. intros. apply score_real. Qed.

Lemma ratio_le : forall a b, (a <= b)%Z -> IZR a / IZR (score_den D) <= IZR b / IZR (score_den D).
Proof.
  intros a b L. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, denP|]. apply IZR_le, L.
Qed.

Lemma low_le_score : forall i t, (t < count D i)%nat -> (lowZ D i <= scoreZ D i t)%Z.
Proof.
  intros i t T. assert (M := max_fx_ge (count D i) (fun t => (- scoreZ D i t)%Z) t T).
  unfold lowZ. simpl in M. lia.
Qed.

Lemma score_le_second : forall i t, rejected D alpha i t -> (scoreZ D i t <= secondZ D alpha i)%Z.
Proof.
  intros i t (_ & T & N). unfold secondZ.
  assert (M := max_fx_ge (count D i)
    (fun t => if t =? selected alpha i then lowZ D i else scoreZ D i t) t T).
  simpl in M. apply Nat.eqb_neq in N. rewrite N in M. exact M.
Qed.

Lemma score_le_top : forall i t, (i < size D)%nat -> (t < count D i)%nat ->
  (scoreZ D i t <= topZ D alpha i)%Z.
Proof.
  intros i t I T. destruct (Nat.eq_dec t (selected alpha i)) as [->|N]; [apply Z.le_refl|].
  assert (S := proj2 best i t (conj I (conj T N))). rewrite !score_real in S.
  apply Z.lt_le_incl, lt_IZR. apply Rmult_lt_reg_r with (/ IZR (score_den D)); [|exact S].
  apply Rinv_0_lt_compat, denP.
Qed.

(** ** The bounds of the smoothness constant *)

Let scale2 : Z := ((Zpos (token_den D) * Zpos (query_den D)) ^ 2)%Z.

Lemma scale2_R : IZR scale2 = Td D * Qd D * (Td D * Qd D).
Proof.
  unfold scale2. rewrite Z.pow_2_r, !mult_IZR. reflexivity.
Qed.

Lemma scale2_pos : (0 < scale2)%Z.
Proof. unfold scale2. rewrite Z.pow_2_r. reflexivity. Qed.

Definition numbers : score_bounds := ScoreBounds
  (fun i => IZR (lowZ D i) / IZR (score_den D))
  (fun i => IZR (secondZ D alpha i) / IZR (score_den D))
  (fun i => FX (slope_up D c p k i))
  (fun i => FX (bend_up D c p k i))
  (fun i => sqrt (IZR (diameterZ D i) / IZR scale2)).

Lemma difference_vec : forall i t u a,
  (x D i t a - x D i u a) = vec (add (xZ D i t) (scale (-1) (xZ D i u))) a / Td D.
Proof.
  intros. rewrite !x_vec, vec_add, vec_scale. assert (P := Td_pos D). field. lra.
Qed.

Lemma square_spec_vec : forall u, length u = d ->
  IZR (square u) = sum d (fun a => vec u a * vec u a).
Proof. intros u L. apply dot_spec, L. Qed.

Lemma difference_length : forall i t u, (i < size D)%nat -> (t < count D i)%nat ->
  (u < count D i)%nat -> length (add (xZ D i t) (scale (-1) (xZ D i u))) = d.
Proof.
  intros i t u I T U. destruct (wf_sample D WF i I) as (_ & LX & _).
  assert (G : forall v w : list Z, length v = length w -> length (add v w) = length v).
  { induction v as [|e v IH]; intros [|f w] E; simpl in *; try discriminate; [reflexivity|].
    f_equal. apply IH. lia. }
  rewrite G; [apply LX, T|]. unfold scale. rewrite map_length, !LX; auto.
Qed.

Lemma difference_norm2 : forall i t u, (i < size D)%nat -> (t < count D i)%nat ->
  (u < count D i)%nat ->
  norm2 d (fun a b => (x D i t a - x D i u a) * z D i b)
  = IZR (square (add (xZ D i t) (scale (-1) (xZ D i u))) * square (zZ D i)) / IZR scale2.
Proof.
  intros i t u I T U. destruct (wf_sample D WF i I) as (_ & _ & LZ & _).
  rewrite (norm2_outer d (fun a => x D i t a - x D i u a) (z D i)), mult_IZR, scale2_R.
  rewrite !square_spec_vec by (try apply difference_length; assumption).
  assert (T0 := Td_pos D). assert (Q0 := Qd_pos D).
  rewrite (sum_ext d (fun a => (x D i t a - x D i u a) * (x D i t a - x D i u a))
    (fun a => / (Td D * Td D) * (vec (add (xZ D i t) (scale (-1) (xZ D i u))) a
                                 * vec (add (xZ D i t) (scale (-1) (xZ D i u))) a)))
    by (intros; rewrite !difference_vec; field; lra).
  rewrite (sum_ext d (fun b => z D i b * z D i b)
    (fun b => / (Qd D * Qd D) * (vec (zZ D i) b * vec (zZ D i) b)))
    by (intros; rewrite !z_vec; field; lra).
  rewrite !sum_scale. field. split; lra.
Qed.

Lemma square_nonneg : forall u, (0 <= square u)%Z.
Proof.
  induction u as [|a u IH]; unfold square in *; simpl; [lia|]. nia.
Qed.

Lemma diameter_ge : forall i t u, (t < count D i)%nat -> (u < count D i)%nat ->
  (square (add (xZ D i t) (scale (-1) (xZ D i u))) * square (zZ D i) <= diameterZ D i)%Z.
Proof.
  intros i t u T U. apply Z.mul_le_mono_nonneg_r; [apply square_nonneg|].
  eapply Z.le_trans; [|apply (max_fx_ge _ (fun t => max_fx (count D i) (fun u =>
    square (add (xZ D i t) (scale (-1) (xZ D i u))))) t T)].
  exact (max_fx_ge _ (fun u => square (add (xZ D i t) (scale (-1) (xZ D i u)))) u U).
Qed.

Lemma minus_ratio : forall a b, IZR (- a) / IZR b = - (IZR a / IZR b).
Proof. intros. rewrite opp_IZR. unfold Rdiv. ring. Qed.

Lemma slope_up_ge : forall i u, exp_fine p k (- lowZ D i) (score_den D) = true ->
  IZR (lowZ D i) / IZR (score_den D) <= u -> - slope_of c u <= FX (slope_up D c p k i).
Proof.
  intros i u F L. set (lo := IZR (lowZ D i) / IZR (score_den D)) in *.
  unfold slope_of, slope_up. destruct c.
  - destruct (exp_down_le p k (lowZ D i) (score_den D) score_den_pos) as [P B].
    fold lo in B. assert (M := exp_le lo u L). assert (O := one_fx_pos p).
    assert (PB := fx_nonneg p _ P).
    eapply Rle_trans; [|apply quotient_up; lia]. rewrite fx_plus, fx_one.
    unfold logistic'. rewrite Ropp_involutive, exp_Ropp.
    assert (E := exp_pos u).
    replace (/ exp u / (1 + / exp u)) with (1 / (1 + exp u)) by (field; lra).
    unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_le_contravar; lra.
  - assert (B := exp_up_ge p k (- lowZ D i) (score_den D) score_den_pos F).
    rewrite minus_ratio in B. fold lo in B. unfold exponential'. rewrite Ropp_involutive.
    eapply Rle_trans; [|exact B]. apply exp_le. lra.
  - unfold correlation'. rewrite fx_one. lra.
Qed.

Lemma bend_up_ge : forall i u, exp_fine p k (- lowZ D i) (score_den D) = true ->
  IZR (lowZ D i) / IZR (score_den D) <= u -> Rabs (bend_of c u) <= FX (bend_up D c p k i).
Proof.
  intros i u F L. set (lo := IZR (lowZ D i) / IZR (score_den D)) in *.
  unfold bend_of, bend_up. destruct c.
  - eapply Rle_trans; [|apply div_up_ge; lia]. unfold logistic''. assert (E := exp_pos (- u)).
    set (e := exp (- u)) in *.
    assert (Q : 0 < (1 + e) * (1 + e)) by (apply Rmult_lt_0_compat; lra).
    rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat, Q]).
    apply Rmult_le_reg_r with ((1 + e) * (1 + e)); [exact Q|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
    assert (S := Rle_0_sqr (1 - e)). unfold Rsqr in S. lra.
  - assert (B := exp_up_ge p k (- lowZ D i) (score_den D) score_den_pos F).
    rewrite minus_ratio in B. fold lo in B. unfold exponential''.
    rewrite Rabs_right by (apply Rle_ge, Rlt_le, exp_pos).
    eapply Rle_trans; [|exact B]. apply exp_le. lra.
  - unfold correlation''. rewrite Rabs_R0. unfold fx, Rdiv. lra.
Qed.

Lemma bounded_numbers :
  (forall i, (i < size D)%nat -> exp_fine p k (- lowZ D i) (score_den D) = true) ->
  (forall i, (i < size D)%nat -> (secondZ D alpha i < topZ D alpha i)%Z) ->
  bounded D alpha numbers (slope_of c) (bend_of c).
Proof.
  intros F S. split; simpl.
  - intros i t _ T. rewrite score_real. apply ratio_le, low_le_score, T.
  - intros i t R. rewrite score_real. apply ratio_le, score_le_second, R.
  - intros i I. rewrite top_real. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, denP|].
    apply IZR_lt, S, I.
  - intros i u I [L _]. apply slope_up_ge; auto.
  - intros i u I [L _]. apply bend_up_ge; auto.
  - intros i t u I T U. unfold norm. apply sqrt_le_1_alt. rewrite difference_norm2 by assumption.
    apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, IZR_lt, scale2_pos|].
    apply IZR_le, diameter_ge; assumption.
Qed.

Lemma smoothness_ge : forall i, (i < size D)%nat ->
  exp_fine p k (- lowZ D i) (score_den D) = true ->
  diameter numbers i * diameter numbers i / 4 *
  ((top i - lowest numbers i) * first_derivative numbers i
   + (top i - lowest numbers i) * (top i - lowest numbers i) * second_derivative numbers i / 4)
  <= FX (smoothness D alpha c p k i).
Proof.
  intros i I F. simpl.
  set (lo := IZR (lowZ D i) / IZR (score_den D)). set (m1 := FX (slope_up D c p k i)).
  set (m2 := FX (bend_up D c p k i)). set (R := top i - lo).
  assert (Cn := well_formed_count D WF i I).
  assert (RP : 0 <= R).
  { unfold R, lo. rewrite top_real. assert (L := low_le_score i 0 Cn).
    assert (L' := score_le_top i 0 I Cn). assert (K := ratio_le _ _ (Z.le_trans _ _ _ L L')). lra. }
  assert (M1 : 0 <= m1).
  { apply Rle_trans with (- slope_of c lo); [|apply slope_up_ge; [exact F|apply Rle_refl]].
    destruct (proj1 (loss_smooth c) lo) as [_ N]. lra. }
  assert (M2 : 0 <= m2).
  { apply Rle_trans with (Rabs (bend_of c lo)); [apply Rabs_pos|apply bend_up_ge;
      [exact F|apply Rle_refl]]. }
  assert (DP : 0 <= IZR (diameterZ D i)).
  { apply IZR_le. eapply Z.le_trans; [|apply (diameter_ge i 0 0 Cn Cn)].
    apply Z.mul_nonneg_nonneg; apply square_nonneg. }
  assert (S2 : 0 < IZR scale2) by (apply IZR_lt, scale2_pos).
  rewrite sqrt_sqrt by (apply Rmult_le_pos; [exact DP|apply Rlt_le, Rinv_0_lt_compat, S2]).
  unfold smoothness. set (r := div_up p (topZ D alpha i - lowZ D i) (score_den D)).
  assert (Rr : R <= FX r).
  { eapply Rle_trans; [|apply div_up_ge, score_den_pos]. unfold R, lo. rewrite top_real, minus_IZR.
    right. field. lra. }
  assert (A : IZR (diameterZ D i) / IZR scale2 / 4 <= FX (div_up p (diameterZ D i) (4 * scale2))).
  { eapply Rle_trans; [|apply div_up_ge; assert (P := scale2_pos); lia].
    right. rewrite mult_IZR. field. lra. }
  fold scale2.
  assert (B1 : R * R * m2 / 4
               <= FX r * FX (div_up p (mul_up p r (bend_up D c p k i)) (4 * one))).
  { replace (R * R * m2 / 4) with (R * (R * m2 / 4)) by field.
    apply Rmult_le_compat; [exact RP| |exact Rr|].
    - assert (0 <= R * m2) by (apply Rmult_le_pos; assumption). lra.
    - eapply Rle_trans; [|apply div_up_ge; assert (P := one_fx_pos p); lia].
      assert (M := mul_up_ge p r (bend_up D c p k i)). fold m2 in M.
      assert (E : IZR (mul_up p r (bend_up D c p k i)) / IZR (4 * one)
                  = FX (mul_up p r (bend_up D c p k i)) / 4).
      { unfold fx. rewrite mult_IZR. assert (P := one_fx_posR p). field. lra. }
      rewrite E. assert (R * m2 <= FX r * m2) by (apply Rmult_le_compat_r; assumption). lra. }
  assert (B2 : R * m1 + R * R * m2 / 4 <= FX (mul_up p r (slope_up D c p k i
                + div_up p (mul_up p r (bend_up D c p k i)) (4 * one)))).
  { eapply Rle_trans; [|apply mul_up_ge]. rewrite fx_plus. fold m1.
    assert (R * m1 <= FX r * m1) by (apply Rmult_le_compat_r; assumption). lra. }
  assert (RM : 0 <= R * m1 + R * R * m2 / 4).
  { assert (0 <= R * m1) by (apply Rmult_le_pos; assumption).
    assert (0 <= R * R * m2) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; assumption). lra. }
  eapply Rle_trans; [|apply mul_up_ge]. apply Rmult_le_compat; try assumption.
  assert (0 <= IZR (diameterZ D i) / IZR scale2)
    by (apply Rmult_le_pos; [exact DP|apply Rlt_le, Rinv_0_lt_compat, S2]). lra.
Qed.

Lemma step_small : forall en ed, check_step D alpha c p k en ed = true ->
  (forall i, (i < size D)%nat -> exp_fine p k (- lowZ D i) (score_den D) = true) /\
  0 < IZR (Zpos en) / IZR (Zpos ed) /\ IZR (Zpos en) / IZR (Zpos ed) * beta D alpha numbers < 2.
Proof.
  intros en ed C. unfold check_step in C. apply andb_true_iff in C. destruct C as [F C].
  assert (F' := all_spec _ _ F). split; [exact F'|].
  assert (EN := den_pos en). assert (ED := den_pos ed).
  split; [apply Rdiv_lt_0_compat; assumption|].
  assert (NP := lt_0_INR _ (well_formed_size D WF)).
  apply Z.ltb_lt, IZR_lt in C. rewrite !mult_IZR in C.
  assert (B : beta D alpha numbers <= / n * FX (sum_fx (size D) (smoothness D alpha c p k))).
  { apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat, NP|].
    rewrite sum_fx_spec. apply sum_le. intros i I. apply smoothness_ge; auto. }
  apply Rle_lt_trans with (IZR (Zpos en) / IZR (Zpos ed)
    * (/ n * FX (sum_fx (size D) (smoothness D alpha c p k)))).
  - apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; assumption|exact B].
  - unfold fx. assert (P := one_fx_posR p). rewrite <- INR_IZR_INZ in C.
    apply Rmult_lt_reg_r with (n * IZR (Zpos ed) * IZR one);
      [repeat apply Rmult_lt_0_compat; assumption|].
    match goal with |- ?l < _ => replace l with
      (IZR (Zpos en) * IZR (sum_fx (size D) (smoothness D alpha c p k))) by (field; repeat split;
        lra)
    end. lra.
Qed.

End Sound.
