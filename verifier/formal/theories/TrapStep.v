(** * One step of plain gradient descent, where the optimal tokens lead

    Statement: let every output f_i(W) exceed all scores of rejected tokens of sample i by at
    least epsilon.  Then the descent direction G = - grad L(W), W of norm r, satisfies, with
    Q = sum of the weights of the rows,

        n <G, W> <= Q (r / |M| + Lambda),   n <G, M> >= Q >= c exp(- r / |M|),   n |G| <= Q u,

    with constants Lambda, c > 0, u that depend on epsilon but not on W.

    Source: docs/theory/global_limits.md, "The lemma", (a)-(c). *)

From Coq Require Import Arith Reals Lra Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  LossRows TrapSmooth.
Local Open Scope R_scope.

Section Step.
Variables (D : dataset) (alpha : selection) (l dl : R -> R).
Hypothesis decreasing : decreasing_loss l dl.
Hypothesis formed : well_formed D = true.
Hypothesis chosen : selects D alpha = true.

Notation d := (dim D).
Notation n := (INR (size D)).
Notation Rows := (rows D alpha).

Variables (M : matrix) (least most longest : R).
Hypothesis solved : optimum D alpha M.
Hypothesis solution_pos : 0 < norm2 d M.
Hypothesis least_pos : 0 < least.
Hypothesis longest_bounds : forall i t, rejected D alpha i t -> norm d (phi D alpha i t) <= longest.

(** The norm of W^mm, and log(N c+ / c-). *)
Definition size_M : R := norm d M.
Definition spread_log : R := ln (Rows (fun _ _ => most) / least).

Lemma size_M_pos : 0 < size_M.
Proof. apply sqrt_lt_R0, solution_pos. Qed.

Section Point.
Variables (W G : matrix).
Hypothesis gradient_G : gradient_at d (loss l D) W G.

Let m (i t : nat) : R := margin D alpha W i t.
Let w (i t : nat) : R := pull dl D alpha W i t.
Hypothesis weights_bounded : forall i t, rejected D alpha i t ->
  least * exp (- m i t) <= w i t <= most * exp (- m i t).

Definition total_pull : R := Rows w.
Let Q : R := total_pull.

Lemma weight_pos : forall i t, rejected D alpha i t -> 0 < w i t.
Proof.
  intros i t R. destruct (weights_bounded i t R) as [B _]. assert (E := exp_pos (- m i t)). nra.
Qed.

(** The least margin is at most |W| / |M|: otherwise a multiple of W separates with less norm. *)
Lemma margin_norm : forall i t, (forall j u, rejected D alpha j u -> m i t <= m j u) ->
  m i t <= norm d W / size_M.
Proof.
  intros i t B. assert (P := size_M_pos). assert (N := norm_nonneg d W).
  destruct (Rle_dec (m i t) 0) as [L|L].
  - apply Rle_trans with (1 := L). apply Rmult_le_pos; [exact N|apply Rlt_le, Rinv_0_lt_compat, P].
  - set (mu := m i t) in *. assert (MP : 0 < mu) by lra.
    set (V := fun p q => / mu * W p q).
    assert (S : separates D alpha V).
    { intros j u R. rewrite margin_inner, inner_comm. unfold V. rewrite inner_scale.
      rewrite inner_comm, <- margin_inner. specialize (B j u R). fold (m j u).
      apply Rmult_le_reg_l with mu; [exact MP|].
      rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
    destruct solved as [_ O]. destruct (O V S) as [K _].
    assert (NV : norm2 d V = / mu * / mu * norm2 d W).
    { rewrite !norm2_inner. unfold V. rewrite inner_scale, inner_comm, inner_scale. ring. }
    rewrite NV in K.
    apply Rmult_le_reg_r with size_M; [exact P|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rsqr_incr_0_var; [|exact N]. unfold Rsqr, size_M.
    rewrite norm_square. replace (mu * norm d M * (mu * norm d M))
      with (mu * mu * (norm d M * norm d M)) by ring. rewrite norm_square.
    apply Rle_trans with (mu * mu * (/ mu * / mu * norm2 d W)).
    + apply Rmult_le_compat_l; nra.
    + right. field. lra.
Qed.

Lemma total_pull_low : least * exp (- (norm d W / size_M)) <= Q.
Proof.
  destruct (rows_min D alpha m formed) as (i & t & R & B).
  assert (K := margin_norm i t B).
  apply Rle_trans with (w i t).
  - apply Rle_trans with (least * exp (- m i t)); [|apply (weights_bounded i t R)].
    apply Rmult_le_compat_l; [lra|]. apply exp_le. lra.
  - apply (rows_term D alpha w); [|exact R]. intros. apply Rlt_le, weight_pos. assumption.
Qed.

Lemma total_pull_pos : 0 < Q.
Proof.
  apply Rlt_le_trans with (2 := total_pull_low).
  apply Rmult_lt_0_compat; [exact least_pos|apply exp_pos].
Qed.

Lemma slope_of : forall V, - n * inner d G V = Rows (fun i t => w i t * margin D alpha V i t).
Proof.
  intros V. exact (slope_rows l dl D alpha W V _ decreasing formed chosen (gradient_G V)).
Qed.

(** (a) *)
Lemma along_itself : - n * inner d G W <= Q * (norm d W / size_M + spread_log).
Proof.
  destruct (rows_min D alpha m formed) as (i & t & R & B).
  assert (K := margin_norm i t B). set (mu := m i t) in *.
  assert (QP := total_pull_pos).
  assert (Low : least * exp (- mu) <= Q).
  { apply Rle_trans with (w i t); [apply (weights_bounded i t R)|].
    apply (rows_term D alpha w); [|exact R]. intros. apply Rlt_le, weight_pos. assumption. }
  assert (MP : 0 < Rows (fun _ _ => most)).
  { assert (P1 : 0 < most).
    { destruct (weights_bounded i t R) as [_ U]. assert (E := exp_pos (- mu)).
      assert (P := weight_pos i t R). fold mu in U. nra. }
    apply Rlt_le_trans with (1 := P1).
    apply (rows_term D alpha (fun _ _ => most) i t); [intros; lra|exact R]. }
  assert (S : Rows (fun j u => w j u * (m j u - (mu + spread_log)))
              <= Rows (fun j u => exp (- mu - spread_log) * most + -1 * w j u)).
  { apply rows_le. intros j u J. assert (P := weight_pos j u J).
    assert (X := exp_ineq1_le (m j u - (mu + spread_log))).
    destruct (weights_bounded j u J) as [_ U].
    assert (Y : w j u * exp (m j u - (mu + spread_log)) <= exp (- mu - spread_log) * most).
    { apply Rle_trans with (most * exp (- m j u) * exp (m j u - (mu + spread_log))).
      - apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|exact U].
      - right. rewrite Rmult_assoc, <- exp_plus, Rmult_comm. f_equal. f_equal. ring. }
    nra. }
  rewrite rows_plus, !rows_scale in S. fold total_pull Q in S.
  assert (E : exp (- mu - spread_log) * Rows (fun _ _ => most) = least * exp (- mu)).
  { unfold Rminus. rewrite exp_plus. unfold spread_log.
    rewrite exp_minus_ln by (apply Rdiv_lt_0_compat; assumption). field. split; lra. }
  rewrite (rows_ext D alpha (fun j u => w j u * (m j u - (mu + spread_log)))
    (fun j u => w j u * m j u + - (mu + spread_log) * w j u)) in S by (intros; ring).
  rewrite rows_plus, rows_scale in S. fold total_pull Q in S.
  rewrite slope_of. fold m.
  change (Rows (fun i t => w i t * margin D alpha W i t)) with (Rows (fun i t => w i t * m i t)).
  assert (T : Rows (fun i t => w i t * m i t) <= Q * (mu + spread_log)) by lra.
  apply Rle_trans with (1 := T). apply Rmult_le_compat_l; lra.
Qed.

(** (c) *)
Lemma along_M : Q <= - n * inner d G M.
Proof.
  rewrite slope_of. apply rows_le. intros i t R. assert (P := weight_pos i t R).
  assert (A := proj1 solved i t R). nra.
Qed.

Lemma gradient_length : n * norm d G <= Q * longest.
Proof.
  assert (NP := norm_nonneg d G). assert (QP := total_pull_pos).
  assert (X : n * (norm d G * norm d G) <= norm d G * (Q * longest)).
  { rewrite norm_square, norm2_inner.
    replace (n * inner d G G) with (-1 * (- n * inner d G G)) by ring.
    rewrite slope_of, <- rows_scale.
    replace (norm d G * (Q * longest)) with ((norm d G * longest) * Q) by ring.
    unfold Q, total_pull. rewrite <- rows_scale. apply rows_le. intros i t R.
    assert (P := weight_pos i t R). assert (B := longest_bounds i t R).
    rewrite margin_inner. assert (C := inner_norm d (phi D alpha i t) G).
    apply abs_le in C.
    assert (norm d (phi D alpha i t) * norm d G <= longest * norm d G)
      by (apply Rmult_le_compat_r; assumption).
    nra. }
  destruct NP as [P|P].
  - apply Rmult_le_reg_l with (norm d G); [exact P|]. eapply Rle_trans; [|exact X]. right; ring.
  - rewrite <- P, Rmult_0_r. apply Rmult_le_pos; [lra|].
    destruct (rows_min D alpha m formed) as (i & t & R & _).
    apply Rle_trans with (2 := longest_bounds i t R). apply norm_nonneg.
Qed.
End Point.
End Step.

(** ** The weights, where the optimal tokens lead *)

Section Leading.
Variables (D : dataset) (alpha : selection) (dl : R -> R) (W : matrix) (i : nat).
Hypothesis formed : well_formed D = true.
Hypothesis chosen : selects D alpha = true.
Hypothesis I : (i < size D)%nat.
Variables (lo second g1 g2 epsilon : R).
Let top : R := score D i (selected alpha i).
Hypothesis scores : forall t, (t < count D i)%nat -> lo <= score D i t <= top.
Hypothesis rest : forall t, rejected D alpha i t -> score D i t <= second.
Hypothesis gap_pos : second < top.
Hypothesis slopes : forall u, lo <= u <= top -> g1 <= - dl u <= g2.
Hypothesis g1_pos : 0 < g1.
Hypothesis leads : second + epsilon <= output D W i.
Hypothesis epsilon_pos : 0 < epsilon.

Let a : nat := selected alpha i.
Let s : nat -> R := weight D W i.
Let f : R := output D W i.

Lemma counted : (0 < count D i)%nat.
Proof. apply well_formed_count; assumption. Qed.

Lemma a_lt : (a < count D i)%nat.
Proof. apply (proj2 (selects_spec D alpha chosen)), I. Qed.

Lemma output_between : lo <= f <= top.
Proof.
  apply (mean_between (count D i) s).
  - apply softmax_sum, counted.
  - intros. apply Rlt_le, softmax_pos, counted.
  - exact scores.
Qed.

Lemma selected_weight_low : epsilon / (top - second) <= s a.
Proof.
  apply Rmult_le_reg_r with (top - second); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (E : f - second = sum (count D i) (fun t => s t * (score D i t - second))).
  { rewrite (sum_ext _ _ (fun t => s t * score D i t - second * s t)) by (intros; ring).
    rewrite sum_minus, sum_scale. unfold s at 2, weight. rewrite softmax_sum by apply counted.
    rewrite Rmult_1_r. reflexivity. }
  rewrite (sum_others (count D i) a) in E by apply a_lt.
  assert (O : others (count D i) a (fun t => s t * (score D i t - second)) <= 0).
  { rewrite <- (Rmult_0_l (others (count D i) a (fun _ => 0))).
    rewrite <- others_scale. apply others_le. intros t T N.
    assert (B := rest t (conj I (conj T N))).
    assert (P : 0 < s t) by (apply softmax_pos, counted). nra. }
  fold top in E. fold f in leads. unfold top at 1. fold a. lra.
Qed.

Lemma leading_weights : forall t, rejected D alpha i t ->
  g1 * (epsilon / (top - second)) * epsilon * exp (- margin D alpha W i t)
  <= pull dl D alpha W i t <= g2 * (top - lo) * exp (- margin D alpha W i t).
Proof.
  intros t R. assert (R' := R). destruct R' as (_ & T & N).
  assert (Fb := output_between). destruct (slopes f Fb) as [G1 G2].
  assert (S1 := selected_weight_low).
  assert (S2 := softmax_selected_le (count D i) a (logit D W i) a_lt).
  change (softmax (count D i) (logit D W i)) with s in S2.
  assert (E : pull dl D alpha W i t
              = - dl f * s a * (f - score D i t) * exp (- margin D alpha W i t)).
  { unfold pull. fold f.
    assert (St : weight D W i t = s a * exp (- margin D alpha W i t)).
    { rewrite margin_logit. apply (softmax_margin (count D i) a (logit D W i)). }
    rewrite St. unfold gap, drop. fold f. ring. }
  rewrite E. assert (X := exp_pos (- margin D alpha W i t)).
  assert (B := rest t R). assert (Sc := scores t T). fold f in leads.
  assert (P0 : 0 < epsilon / (top - second)) by (apply Rdiv_lt_0_compat; lra).
  split; (apply Rmult_le_compat_r; [lra|]).
  - apply Rmult_le_compat; [|lra| |lra].
    + apply Rmult_le_pos; lra.
    + apply Rmult_le_compat; lra.
  - apply Rmult_le_compat; [|lra| |lra].
    + apply Rmult_le_pos; lra.
    + rewrite <- (Rmult_1_r g2). apply Rmult_le_compat; lra.
Qed.

End Leading.
