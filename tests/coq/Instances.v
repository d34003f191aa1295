(** The theorems about basins and low-norm limits have instances: one sample with the tokens 1 and
    0, the query 1, the head 1 and the label 1, the correlation loss. *)

From Coq Require Import ZArith List Reals Lra Lia.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  LossRows BasinConditions BasinStep Basin TrapSmooth TrapConditions Trap.
Import ListNotations.
Local Open Scope R_scope.

Definition tiny : dataset := Dataset 1 1 1 1 [Sample [[1]; [0]] [1] 1]%Z [1]%Z.
Definition first_token : selection := [0%nat].
Definition one : matrix := fun _ _ => 1.

(** Gradient descent with steps of size 1, and normalized. *)
Fixpoint path (W0 : matrix) (k : nat) : matrix :=
  match k with
  | O => W0
  | S k => fun p q => path W0 k p q - 1 * gradient correlation' tiny (path W0 k) p q
  end.

Lemma formed : well_formed tiny = true. Proof. reflexivity. Qed.
Lemma chosen : selects tiny first_token = true. Proof. reflexivity. Qed.

Lemma token_0 : forall a, (a < 1)%nat -> x tiny 0 0 a = 1.
Proof. intros [|a] A; [|lia]. unfold x, entry. simpl. field. Qed.
Lemma token_1 : forall a, (a < 1)%nat -> x tiny 0 1 a = 0.
Proof. intros [|a] A; [|lia]. unfold x, entry. simpl. field. Qed.
Lemma query_0 : z tiny 0 0 = 1.
Proof. unfold z, entry. simpl. field. Qed.
Lemma score_0 : score tiny 0 0 = 1.
Proof. unfold score, Y, v, x, entry. simpl. field. Qed.
Lemma score_1 : score tiny 0 1 = 0.
Proof. unfold score, Y, v, x, entry. simpl. field. Qed.

Lemma only_row : forall i t, rejected tiny first_token i t -> i = 0%nat /\ t = 1%nat.
Proof.
  intros i t (I & T & N). change (size tiny) with 1%nat in I. assert (i = 0%nat) by lia. subst i.
  change (count tiny 0) with 2%nat in T. change (selected first_token 0) with 0%nat in N. lia.
Qed.

Lemma rows_tiny : forall f, rows tiny first_token f = f 0%nat 1%nat.
Proof. intros f. unfold rows, others. simpl. ring. Qed.

Lemma best : optimal tiny first_token.
Proof.
  split; [exact chosen|]. intros i t R. destruct (only_row i t R) as [-> ->].
  change (selected first_token 0) with 0%nat. rewrite score_0, score_1. lra.
Qed.

Lemma phi_tiny : phi tiny first_token 0%nat 1%nat 0%nat 0%nat = 1.
Proof. unfold phi. change (selected first_token 0) with 0%nat.
  rewrite token_0, token_1, query_0 by lia. ring. Qed.

Lemma inner_tiny : forall U V, inner (dim tiny) U V = U 0%nat 0%nat * V 0%nat 0%nat.
Proof. intros. unfold inner. simpl. ring. Qed.

Lemma margin_tiny : forall W, margin tiny first_token W 0%nat 1%nat = W 0%nat 0%nat.
Proof. intros. rewrite margin_inner, inner_tiny, phi_tiny. ring. Qed.

Lemma descends : forall W0, descent correlation tiny (fun _ => 1) (path W0)
  (fun k => gradient correlation' tiny (path W0 k)).
Proof.
  intros W0 k. split; [apply loss_gradient; [exact correlation_decreasing|exact formed]|].
  intros p q _ _. reflexivity.
Qed.

(** ** The low-norm limit from 0 *)

Definition bounds : score_bounds :=
  ScoreBounds (fun _ => 0) (fun _ => 0) (fun _ => 1) (fun _ => 0) (fun _ => 1).

Lemma below_size : forall i, (i < size tiny)%nat -> i = 0%nat.
Proof. intros i I. change (size tiny) with 1%nat in I. lia. Qed.

Lemma tokens_tiny : forall t, (t < count tiny 0)%nat -> t = 0%nat \/ t = 1%nat.
Proof. intros t T. change (count tiny 0) with 2%nat in T. lia. Qed.

Lemma top_tiny : top tiny first_token 0%nat = 1.
Proof. exact score_0. Qed.

Lemma bounded_tiny : bounded tiny first_token bounds correlation' correlation''.
Proof.
  split.
  - intros i t I T. rewrite (below_size i I) in *.
    destruct (tokens_tiny t T) as [-> | ->]; simpl; rewrite ?score_0, ?score_1; lra.
  - intros i t R. destruct (only_row i t R) as [-> ->]. rewrite score_1. simpl. lra.
  - intros i I. rewrite (below_size i I), top_tiny. simpl. lra.
  - intros i u _ _. unfold correlation'. simpl. lra.
  - intros i u _ _. unfold correlation''. rewrite Rabs_R0. simpl. lra.
  - intros i t u I T U. rewrite (below_size i I) in *. apply norm_le; [simpl; lra|].
    rewrite norm2_inner, inner_tiny, query_0.
    destruct (tokens_tiny t T) as [-> | ->], (tokens_tiny u U) as [-> | ->];
      rewrite ?token_0, ?token_1 by lia; simpl; lra.
Qed.

Lemma output_zero : output tiny (fun _ _ => 0) 0%nat = / 2.
Proof.
  unfold output, mean, weight. change (count tiny 0) with 2%nat. simpl.
  rewrite score_0, score_1. unfold softmax, partition. simpl.
  assert (E : forall t, logit tiny (fun _ _ => 0) 0%nat t = 0)
    by (intros; unfold logit, form; simpl; ring).
  rewrite !E, exp_0. field.
Qed.

Theorem converges_from_zero : converges_to_solution tiny first_token (path (fun _ _ => 0)).
Proof.
  apply (low_norm_limit tiny first_token bounds correlation correlation' correlation''
           correlation_smooth formed best bounded_tiny _
           (fun k => gradient correlation' tiny (path (fun _ _ => 0) k)) 1).
  - lra.
  - unfold beta. change (size tiny) with 1%nat. simpl. rewrite top_tiny. lra.
  - apply descends.
  - apply (feasible_of_positive tiny first_token one formed). intros i t R.
    destruct (only_row i t R) as [-> ->]. rewrite margin_tiny. unfold one. lra.
  - intros i I. rewrite (below_size i I). unfold loss, loss_star.
    change (size tiny) with 1%nat. simpl. rewrite output_zero, top_tiny. unfold correlation. lra.
Qed.

(** ** A basin *)

Definition e : R := / exp 1.
Definition gain : R := / (1 + e) * (1 - e).
Definition E : R := ln ((1 + e) / gain).

Definition tiny_cone : cone :=
  Cone one (fun _ _ => 1) (fun _ _ => true) 1 (1 + E) (fun _ => 1) (fun _ => 1) E 0.

Lemma e_between : 0 < e < 1.
Proof.
  assert (X := exp_ineq1_le 1). unfold e. split; [apply Rinv_0_lt_compat; lra|].
  apply Rmult_lt_reg_r with (exp 1); [lra|]. rewrite Rinv_l by lra. lra.
Qed.

Lemma gain_between : 0 < gain <= 1 + e.
Proof.
  assert (B := e_between). unfold gain. split.
  - apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat|]; lra.
  - apply Rmult_le_reg_l with (1 + e); [lra|]. rewrite <- Rmult_assoc, Rinv_r by lra. nra.
Qed.

Lemma E_nonneg : 0 <= E.
Proof.
  assert (G := gain_between). unfold E. rewrite <- ln_1.
  destruct (Rle_lt_or_eq_dec 1 ((1 + e) / gain)) as [L|L].
  - apply Rmult_le_reg_r with gain; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - apply Rlt_le, ln_increasing; lra.
  - rewrite <- L. lra.
Qed.

Lemma norm_one : norm2 (dim tiny) one = 1.
Proof. rewrite norm2_inner, inner_tiny. unfold one. ring. Qed.

Lemma a_tiny : a_ tiny first_token tiny_cone 0%nat 1%nat = 1.
Proof. unfold a_. simpl. rewrite margin_tiny. reflexivity. Qed.

Lemma across_tiny : forall W, across tiny tiny_cone W 0%nat 0%nat = 0.
Proof.
  intros W. unfold across, clock. change (solution tiny_cone) with one. rewrite norm_one, inner_tiny. unfold one. field.
Qed.

Lemma v_tiny : v_ tiny first_token tiny_cone 0%nat 1%nat = 0.
Proof.
  unfold v_, norm. rewrite norm2_inner, inner_tiny, across_tiny, Rmult_0_l. apply sqrt_0.
Qed.

Lemma low_tiny : low tiny first_token tiny_cone 0%nat 1%nat = 1.
Proof. unfold low. rewrite a_tiny, v_tiny. simpl. ring. Qed.

Lemma gap_tiny : gap tiny first_token 0%nat 1%nat = 1.
Proof.
  unfold gap. change (selected first_token 0) with 0%nat. rewrite score_0, score_1. ring.
Qed.

Lemma reach_tiny : reach tiny first_token tiny_cone 0%nat = e.
Proof.
  unfold reach, others. change (count tiny 0) with 2%nat. simpl.
  change (selected first_token 0) with 0%nat. simpl.
  rewrite gap_tiny, low_tiny, Rabs_R1, exp_Ropp. unfold e. ring.
Qed.

Lemma c_low_tiny : c_low tiny first_token tiny_cone 0%nat 1%nat = gain.
Proof.
  unfold c_low, floor. rewrite reach_tiny, gap_tiny. unfold others.
  change (count tiny 0) with 2%nat. change (selected first_token 0) with 0%nat. simpl.
  rewrite low_tiny, exp_Ropp. unfold gain. fold e. rewrite !Rplus_0_l, Rmult_1_l. reflexivity.
Qed.

Lemma Z_tiny : Z tiny first_token tiny_cone = gain.
Proof.
  unfold Z, log_Z. rewrite rows_tiny, c_low_tiny. unfold share.
  change (norm2 (dim tiny) (solution tiny_cone)) with (norm2 (dim tiny) one).
  rewrite norm_one. simpl multiplier.
  assert (G := gain_between). replace (1 / 1) with 1 by field.
  replace (gain / 1) with gain by field. rewrite Rmult_1_l. apply exp_ln. lra.
Qed.

Lemma no_rivals : forall f, on_rivals tiny first_token tiny_cone f = 0.
Proof. intros f. unfold on_rivals. rewrite rows_tiny. reflexivity. Qed.

Lemma cone_tiny : cone_conditions tiny first_token tiny_cone correlation'.
Proof.
  assert (B := e_between). assert (G := gain_between). assert (EN := E_nonneg). split.
  - split.
    + intros p q P Q. simpl in P, Q. replace p with 0%nat by lia. replace q with 0%nat by lia.
      rewrite rows_tiny, phi_tiny. simpl. unfold one. ring.
    + intros i t R. destruct (only_row i t R) as [-> ->]. rewrite a_tiny. simpl. lra.
  - apply Rlt_le_trans with (1 := Rlt_0_1). right. symmetry. exact norm_one.
  - simpl. lra.
  - simpl. lra.
  - intros i u _ _. unfold correlation'. simpl. lra.
  - intros i t R. destruct (only_row i t R) as [-> ->]. rewrite a_tiny, v_tiny. lra.
  - intros i t _ N. discriminate N.
  - intros i t R _. destruct (only_row i t R) as [-> ->]. rewrite reach_tiny, gap_tiny. lra.
  - intros i t _ N. discriminate N.
  - unfold eps_a. rewrite no_rivals. lra.
  - split; [exact EN|]. unfold on_worse. rewrite rows_tiny, Z_tiny. simpl.
    unfold c_high. rewrite reach_tiny, gap_tiny, a_tiny. simpl. unfold E.
    rewrite exp_ln by (apply Rdiv_lt_0_compat; lra).
    replace (- (1 * (1 - 1))) with 0 by ring. rewrite exp_0. right. field. lra.
  - simpl. split; [lra|]. intros i t R _. destruct (only_row i t R) as [-> ->].
    rewrite v_tiny. lra.
Qed.

Lemma clock_one : clock tiny tiny_cone one = 1.
Proof.
  unfold clock. change (solution tiny_cone) with one. rewrite norm_one, inner_tiny.
  unfold one. field.
Qed.

Theorem basin_from_one : forall sigma,
  starts_inside tiny first_token tiny_cone (path one) sigma 0.
Proof.
  intros sigma. assert (EN := E_nonneg). unfold starts_inside.
  assert (Gr : growth tiny first_token tiny_cone sigma = E).
  { unfold growth, eps_a, eps_v. rewrite !no_rivals.
    change (norm2 (dim tiny) (solution tiny_cone)) with (norm2 (dim tiny) one).
    rewrite norm_one. simpl. field. }
  rewrite Gr. simpl path. rewrite clock_one. simpl start. simpl aperture.
  rewrite norm2_inner, inner_tiny, across_tiny.
  split; [lra|]. split; [lra|]. split; [lra|]. split; [nra|]. left. nra.
Qed.

Theorem converges_from_one : converges_in_direction 1 (path one) one.
Proof.
  apply (basin_plain tiny first_token tiny_cone correlation correlation' correlation_decreasing
           formed chosen cone_tiny 1 0 (path one)
           (fun k => gradient correlation' tiny (path one k)) Rlt_0_1 (descends one)).
  apply basin_from_one.
Qed.
