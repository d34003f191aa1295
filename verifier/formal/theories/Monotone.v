(** * No stationary point, from a monotone direction

    Statement: if the integer matrix M satisfies (gamma_it - gamma_iu)(h_it - h_iu) >= 0 for all
    i, t, u, with h_it = x_it^T M z_i, and > 0 for one of them, then for every loss l with l' < 0
    and every real W the slope of L at W in the direction M is negative.  So L has no stationary
    point.

    The certificates `monotone_direction` (M scaled to integers), `separable_queries` (M = v u^T)
    and, wherever the features are independent and one sample is not flat, `injective_features`
    (M with h_it - h_i0 = gamma_it - gamma_i0, solved over Q) are all checked by [check_monotone].

    Source: docs/theory/stationary.md, S1, S2 and S2a; arXiv 2308.16898 v1, Theorem 3. *)

From Coq Require Import Bool ZArith List Reals Lra Lia.
From AttSVM Require Import Dataset Statements Sums Integers Margins Loss Analysis LossFacts.
Import ListNotations.
Local Open Scope R_scope.

Definition no_stationary_point (D : dataset) : Prop :=
  forall l dl, decreasing_loss l dl -> forall W, ~ stationary (loss l D) W.

(** ** The check *)

(** The pairs (h_it, gamma_it) of a sample, each number times a positive constant. *)
Definition directed_scores (D : dataset) (M : list (list Z)) (s : sample) : list (Z * Z) :=
  let q := times M (query s) in
  map (fun x => (dot x q, label s * dot (head D) x)%Z) (tokens s).

Definition concordance (p q : Z * Z) : Z := ((fst p - fst q) * (snd p - snd q))%Z.

Definition concordant (l : list (Z * Z)) : bool :=
  forallb (fun p => forallb (fun q => (0 <=? concordance p q)%Z) l) l.

Definition strict (l : list (Z * Z)) : bool :=
  existsb (fun p => existsb (fun q => (0 <? concordance p q)%Z) l) l.

Definition check_monotone (D : dataset) (M : list (list Z)) : bool :=
  well_formed D && is_matrix (dim D) (dim D) M
  && (let pairs := map (directed_scores D M) (samples D) in
      forallb concordant pairs && existsb strict pairs).

(** ** Soundness *)

Section Soundness.

Variables (D : dataset) (M : list (list Z)).
Hypothesis check : check_monotone D M = true.

Let logit_scale : R := / (Td D * Qd D).
Let score_scale : R := / (Hd D * Td D).

Lemma scales_pos : 0 < logit_scale * score_scale.
Proof.
  assert (T := Td_pos D). assert (Q := Qd_pos D). assert (H := Hd_pos D).
  apply Rmult_lt_0_compat; apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption.
Qed.

Let pairs (i : nat) : list (Z * Z) := directed_scores D M (sample_of D i).

Lemma shapes : well_formed D = true /\ length M = dim D.
Proof.
  assert (H := check). unfold check_monotone in H. repeat rewrite andb_true_iff in H.
  destruct H as [[W L] _]. split; [exact W|]. apply is_matrix_length in L. exact L.
Qed.

Lemma pair_of : forall i t, (i < size D)%nat -> (t < count D i)%nat -> exists p,
  In p (pairs i) /\ nth t (pairs i) (0, 0)%Z = p /\
  logit D (mat M) i t = logit_scale * IZR (fst p) /\
  score D i t = score_scale * IZR (snd p).
Proof.
  intros i t I T. destruct shapes as [W LM]. destruct (wf_sample D W i I) as (_ & LX & LZ & _).
  set (f := fun x => (dot x (times M (zZ D i)), label (sample_of D i) * dot (head D) x)%Z).
  exists (f (xZ D i t)).
  assert (N : nth t (pairs i) (0, 0)%Z = f (xZ D i t)).
  { unfold pairs, directed_scores.
    rewrite (nth_indep _ _ (f [])) by (rewrite map_length; exact T). apply (map_nth f). }
  split; [|split; [exact N|split]].
  - rewrite <- N. apply nth_In. unfold pairs, directed_scores. rewrite map_length. exact T.
  - unfold logit. rewrite form_tokens. simpl fst. rewrite (form_spec (dim D)) by auto.
    unfold logit_scale, Rdiv. ring.
  - rewrite (score_spec D W). unfold score_scale, Rdiv. apply Rmult_comm.
Qed.

(** The products of differences are those of the integers, times a positive number. *)
Lemma product_of : forall i t u, (i < size D)%nat -> (t < count D i)%nat -> (u < count D i)%nat ->
  (logit D (mat M) i t - logit D (mat M) i u)
    * (score D i t - score D i u)
  = logit_scale * score_scale
    * IZR (concordance (nth t (pairs i) (0, 0)%Z) (nth u (pairs i) (0, 0)%Z)).
Proof.
  intros i t u I T U.
  destruct (pair_of i t I T) as (p & _ & -> & -> & ->).
  destruct (pair_of i u I U) as (q & _ & -> & -> & ->).
  unfold concordance. rewrite mult_IZR, !minus_IZR. ring.
Qed.

Lemma products :
  (forall i t u, (i < size D)%nat -> (t < count D i)%nat -> (u < count D i)%nat ->
     0 <= (logit D (mat M) i t - logit D (mat M) i u)
          * (score D i t - score D i u)) /\
  (exists i t u, (i < size D)%nat /\ (t < count D i)%nat /\ (u < count D i)%nat /\
     0 < (logit D (mat M) i t - logit D (mat M) i u)
         * (score D i t - score D i u)).
Proof.
  assert (P := scales_pos).
  assert (H := check). unfold check_monotone in H. apply andb_true_iff in H.
  destruct H as [_ H]. apply andb_true_iff in H. destruct H as [C E]. split.
  - intros i t u I T U. rewrite product_of by assumption.
    apply Rmult_le_pos; [lra|]. apply IZR_le.
    destruct (pair_of i t I T) as (p & Ip & -> & _).
    destruct (pair_of i u I U) as (q & Iq & -> & _).
    rewrite forallb_forall in C.
    assert (Ci : concordant (pairs i) = true) by exact (C _ (in_map _ _ _ (nth_In _ _ I))).
    unfold concordant in Ci. rewrite forallb_forall in Ci. specialize (Ci p Ip).
    rewrite forallb_forall in Ci. apply Z.leb_le, Ci, Iq.
  - apply existsb_exists in E. destruct E as (l & L & E).
    apply in_map_iff in L. destruct L as (s & <- & Is).
    apply (In_nth _ _ (Sample [] [] 0%Z)) in Is. destruct Is as (i & I & <-).
    apply existsb_exists in E. destruct E as (p & Ip & E).
    apply existsb_exists in E. destruct E as (q & Iq & E).
    apply (In_nth _ _ (0, 0)%Z) in Ip. destruct Ip as (t & T & <-).
    apply (In_nth _ _ (0, 0)%Z) in Iq. destruct Iq as (u & U & <-).
    exists i, t, u. unfold directed_scores in T, U. rewrite map_length in T, U.
    split; [exact I|]. split; [exact T|]. split; [exact U|].
    rewrite product_of by assumption. apply Rmult_lt_0_compat; [exact P|].
    apply IZR_lt, Z.ltb_lt, E.
Qed.

Theorem monotone_slope : forall l dl W, decreasing_loss l dl ->
  exists r, r < 0 /\ slope (loss l D) W (mat M) r.
Proof.
  intros l dl W L. destruct shapes as [F _]. destruct products as [A S].
  exists (slope_formula dl D W (mat M)). split.
  - apply (concordant_slope_negative l); assumption.
  - apply loss_slope; assumption.
Qed.

End Soundness.

Theorem monotone_sound : forall D M, check_monotone D M = true -> no_stationary_point D.
Proof.
  intros D M C l dl L W St. destruct (monotone_slope D M C l dl W L) as (r & N & S).
  rewrite (slope_unique _ _ _ _ _ S (St _)) in N. lra.
Qed.

(** ** Independent features (S1) *)

Theorem full_rank_no_stationary_point : forall D, well_formed D = true -> full_rank D ->
  (exists i t u, (i < size D)%nat /\ (t < count D i)%nat /\ (u < count D i)%nat /\
     score D i t <> score D i u) ->
  no_stationary_point D.
Proof.
  intros D F R (i & t & u & I & T & U & NE) l dl L W St.
  set (g := fun j s => weight D W j s * (score D j s - output D W j)).
  assert (G0 : forall j, (j < size D)%nat -> sum (count D j) (g j) = 0).
  { intros j J. apply softmax_deviations, well_formed_count; assumption. }
  assert (E : forall a b, (a < dim D)%nat -> (b < dim D)%nat -> gradient dl D W a b = 0).
  { intros a b A B.
    assert (N := norm2_entry (dim D) (gradient dl D W) a b A B).
    rewrite norm2_inner in N.
    rewrite (slope_unique _ _ _ _ _ (loss_gradient l dl D W L F _) (St _)) in N. nra. }
  assert (Hn : 0 < / INR (size D)) by (apply Rinv_0_lt_compat, lt_0_INR, well_formed_size, F).
  assert (C : forall j s, (j < size D)%nat -> (1 <= s < count D j)%nat ->
                          - dl (output D W j) * g j s = 0).
  { apply R. intros a b A B. specialize (E a b A B). unfold gradient in E.
    apply Rmult_integral in E. destruct E as [E|E]; [lra|]. rewrite <- E.
    apply sum_ext. intros j J.
    rewrite <- (Rplus_0_r (dl _ * _)), <- (Rmult_0_r (dl (output D W j) * (- x D j 0 a * z D j b))).
    rewrite <- (G0 j J), Rmult_assoc, <- Rmult_plus_distr_l, <- sum_scale, <- sum_plus.
    rewrite <- sum_scale.
    apply sum_ext. intros s _. unfold feature, g. ring. }
  assert (Z : forall s, (s < count D i)%nat -> g i s = 0).
  { assert (Z1 : forall s, (1 <= s < count D i)%nat -> g i s = 0).
    { intros s S. destruct (L (output D W i)) as [_ N].
      destruct (Rmult_integral _ _ (C i s I S)) as [Q|Q]; [lra|exact Q]. }
    intros [|s] S; [|apply Z1; lia].
    rewrite <- (sum_single (count D i) (g i) 0); [apply G0, I|exact S|].
    intros j J J0. apply Z1. lia. }
  assert (S : forall s, (s < count D i)%nat -> score D i s = output D W i).
  { intros s S. destruct (Rmult_integral _ _ (Z s S)) as [Q|Q]; [|lra].
    assert (P : 0 < weight D W i s) by (apply softmax_pos, well_formed_count; assumption). lra. }
  apply NE. rewrite !S by assumption. reflexivity.
Qed.
