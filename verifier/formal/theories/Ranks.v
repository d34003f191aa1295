(** Checkers of linear independence and of dependence of the features. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins Duality Systems Gram.
Import ListNotations.
Local Open Scope R_scope.

(** The selection of token 0 everywhere. *)
Definition base (D : dataset) : selection := repeat 0%nat (size D).

Lemma selected_base D i : selected (base D) i = 0%nat.
Proof. unfold selected, base. apply nth_repeat. Qed.

Lemma base_selects D : well_formed D = true -> selects D (base D) = true.
Proof.
  intros WF. unfold selects. unfold base at 1. rewrite repeat_length, Nat.eqb_refl; simpl.
  apply forallb_forall; intros i Hi; apply in_seq in Hi. apply Nat.ltb_lt.
  rewrite selected_base. destruct (wf_sample D WF i) as (H & _); lia.
Qed.

(** All differences of logits to that of token 0 can be prescribed at once. *)
Definition shatters (D : dataset) : Prop :=
  forall b : nat -> nat -> R, exists W, forall i t, (i < size D)%nat -> (1 <= t < count D i)%nat ->
  logit D W i 0 - logit D W i t = b i t.

Section Consequences.
Variable D : dataset.
Hypothesis shattered : shatters D.

Lemma phi_base i t a b : phi D (base D) i t a b = feature D i t a b.
Proof. unfold phi, feature. now rewrite selected_base. Qed.

Lemma feature_inner W i t : inner (dim D) (feature D i t) W = logit D W i 0 - logit D W i t.
Proof.
  rewrite <- (inner_ext _ (phi D (base D) i t) W _ W (fun a b _ _ => phi_base i t a b)
               (fun a b _ _ => eq_refl)).
  now rewrite <- margin_inner, margin_logit, selected_base.
Qed.

Theorem shatters_full_rank : full_rank D.
Proof.
  intros c Hc i t Hi Ht. destruct (shattered c) as (W & HW).
  assert (E : total D (fun j s => c j s * inner (dim D) (feature D j s) W) = 0).
  { transitivity (inner (dim D) (fun a b => total D (fun j s => c j s * feature D j s a b)) W).
    - unfold total. rewrite inner_sum; apply sum_ext; intros j _.
      rewrite inner_sum; apply sum_ext; intros s _. now rewrite inner_scale.
    - apply sum_zero; intros a Ha; apply sum_zero; intros b Hb.
      unfold total; rewrite Hc by easy. ring. }
  assert (Hnn : forall j s, (j < size D)%nat -> (s < count D j)%nat ->
                0 <= c j s * inner (dim D) (feature D j s) W).
  { intros j s Hj Hs. rewrite feature_inner. destruct s as [|s].
    - replace (logit D W j 0 - logit D W j 0) with 0 by ring. lra.
    - rewrite HW by (auto; lia). nra. }
  pose proof (total_term D _ i t Hnn Hi (proj2 Ht)) as H. cbv beta in H.
  rewrite E, feature_inner, HW in H by easy. nra.
Qed.

Theorem shatters_feasible : every_selection_feasible D.
Proof.
  intros alpha Hs.
  destruct (shattered (fun i t => if Nat.eqb (selected alpha i) 0 then 1
                                  else if Nat.eqb t (selected alpha i) then -1 else 0))
    as (W & HW).
  exists W. intros i t (Hi & Ht & Hn). rewrite margin_logit.
  pose proof (proj2 (selects_spec D alpha Hs) i Hi) as Ha.
  pose proof (HW i t Hi) as Et. pose proof (HW i (selected alpha i) Hi) as Ea.
  destruct (Nat.eqb_spec (selected alpha i) 0) as [E0|E0].
  - rewrite E0 in *. rewrite Et by lia. lra.
  - rewrite Nat.eqb_refl in Ea. specialize (Ea ltac:(lia)).
    destruct t as [|t]; [lra|]. specialize (Et ltac:(lia)).
    destruct (Nat.eqb_spec (S t) (selected alpha i)); [easy|]. lra.
Qed.

(** Some W has the scores for logits, up to a constant for each sample. *)
Theorem shatters_scores : exists W, forall i t s,
  (i < size D)%nat -> (t < count D i)%nat -> (s < count D i)%nat ->
  logit D W i t - logit D W i s = score D i t - score D i s.
Proof.
  destruct (shattered (fun i t => score D i 0 - score D i t)) as (W & HW).
  assert (H : forall i t, (i < size D)%nat -> (t < count D i)%nat ->
              logit D W i 0 - logit D W i t = score D i 0 - score D i t).
  { intros i [|t] Hi Ht; [ring|]. apply HW; auto; lia. }
  exists W. intros i t s Hi Ht Hs. pose proof (H i t Hi Ht). pose proof (H i s Hi Hs). lra.
Qed.

End Consequences.

(** ** All features at once *)

Definition rows_from_one (D : dataset) : list (nat * nat) :=
  flat_map (fun i => map (pair i) (seq 1 (count D i - 1))) (seq 0 (size D)).

Definition check_independent_rows (D : dataset) (A : inverse) : bool :=
  let rows := rows_from_one D in
  well_formed D
  && check_inverse A (length rows) (feature_gram D (base D) rows) (feature_scale2 D).

Lemma rows_from_one_spec D i t :
  In (i, t) (rows_from_one D) <-> (i < size D)%nat /\ (1 <= t < count D i)%nat.
Proof.
  unfold rows_from_one. rewrite in_flat_map. split.
  - intros (j & Hj & H). apply in_seq in Hj. apply in_map_iff in H.
    destruct H as (s & E & Hs). apply in_seq in Hs. injection E as -> ->. lia.
  - intros [Hi Ht]. exists i; split; [apply in_seq; lia|].
    apply in_map, in_seq. lia.
Qed.

Theorem independent_rows_shatter D A : check_independent_rows D A = true -> shatters D.
Proof.
  unfold check_independent_rows; rewrite andb_true_iff; intros [WF HA] b.
  set (rows := rows_from_one D) in *.
  assert (HP : present D rows = true).
  { apply forallb_forall; intros [i t] H. apply rows_from_one_spec in H; simpl.
    apply andb_true_iff; split; apply Nat.ltb_lt; lia. }
  destruct (prescribe_margins D (base D) WF (base_selects D WF) rows A
    (fun k => b (fst (row_at rows k)) (snd (row_at rows k))) HP HA) as (l & Hl).
  exists (row_combination D (base D) rows l). intros i t Hi Ht.
  assert (Hin : In (i, t) rows) by now apply rows_from_one_spec.
  destruct (In_nth rows (i, t) (0, 0)%nat Hin) as (k & Hk & Ek). specialize (Hl k Hk).
  unfold phi_at, row_at in Hl. rewrite Ek in Hl; simpl in Hl.
  now rewrite <- margin_inner, margin_logit, selected_base in Hl.
Qed.

(** ** Queries, and the differences of every sample *)

Definition queries (D : dataset) : list (list Z) := map query (samples D).

Definition differences (D : dataset) (i : nat) : list (list Z) :=
  map (difference D (base D) i) (seq 1 (count D i - 1)).

Definition check_independent_factors (D : dataset) (A : inverse) (As : list inverse) : bool :=
  well_formed D && Nat.eqb (length As) (size D)
  && check_inverse A (size D) (gram (queries D)) 1
  && all (size D) (fun i =>
       let V := differences D i in
       check_inverse (nth i As A) (length V) (gram V) 1).

Lemma finite_choice (B : Type) (e : B) n (P : nat -> B -> Prop) :
  (forall k, (k < n)%nat -> exists y, P k y) -> exists f, forall k, (k < n)%nat -> P k (f k).
Proof.
  induction n as [|n IH]; intros H; [exists (fun _ => e); lia|].
  destruct IH as (f & Hf); [auto with arith|]. destruct (H n) as (y & Hy); [lia|].
  exists (fun k => if Nat.eqb k n then y else f k). intros k Hk.
  destruct (Nat.eqb_spec k n) as [->|]; [easy|]. apply Hf; lia.
Qed.

Theorem independent_factors_shatter D A As :
  check_independent_factors D A As = true -> shatters D.
Proof.
  unfold check_independent_factors; rewrite !andb_true_iff; intros [[[WF _] HA] HAs] b.
  assert (EQ : length (queries D) = size D) by apply map_length.
  assert (HY : exists y : nat -> nat -> R, forall i, (i < size D)%nat -> forall j, (j < size D)%nat ->
    sum (dim D) (fun a => vec (zZ D j) a * y i a) = delta i j).
  { apply (finite_choice _ (fun _ => 0) (size D) (fun i w => forall j, (j < size D)%nat ->
      sum (dim D) (fun a => vec (zZ D j) a * w a) = delta i j)). intros i Hi.
    destruct (prescribe (queries D) (dim D) A (delta i)) as (w & Hw).
    - now rewrite EQ.
    - intros k Hk. rewrite EQ in Hk. unfold queries.
      rewrite (mat_map query (samples D) (Sample [] [] 0%Z) k Hk). now apply (wf_sample D WF).
    - exists w. intros j Hj. rewrite <- Hw by now rewrite EQ. unfold queries.
      now rewrite (mat_map query (samples D) (Sample [] [] 0%Z) j Hj). }
  assert (HU : exists u : nat -> nat -> R, forall i, (i < size D)%nat ->
    forall t, (1 <= t < count D i)%nat ->
    sum (dim D) (fun a => vec (difference D (base D) i t) a * u i a) = b i t).
  { apply (finite_choice _ (fun _ => 0) (size D) (fun i w => forall t, (1 <= t < count D i)%nat ->
      sum (dim D) (fun a => vec (difference D (base D) i t) a * w a) = b i t)). intros i Hi.
    pose proof (all_spec _ _ HAs i Hi) as HV; cbv beta zeta in HV.
    assert (EV : length (differences D i) = (count D i - 1)%nat)
      by (unfold differences; now rewrite map_length, seq_length).
    assert (Hnth : forall k, (k < count D i - 1)%nat ->
      nth k (differences D i) [] = difference D (base D) i (S k)).
    { intros k Hk. unfold differences. rewrite (mat_map _ _ 0%nat) by now rewrite seq_length.
      now rewrite seq_nth. }
    destruct (prescribe (differences D i) (dim D) (nth i As A) (fun k => b i (S k)) HV)
      as (w & Hw).
    - intros k Hk. rewrite EV in Hk. rewrite Hnth by easy.
      apply difference_length; auto using base_selects; lia.
    - exists w. intros [|t] Ht; [lia|]. rewrite <- Hw by (rewrite EV; lia).
      now rewrite Hnth by lia. }
  destruct HY as (y & Hy), HU as (u & Hu).
  exists (fun a c => Td D * Qd D * sum (size D) (fun i => u i a * y i c)).
  intros i t Hi Ht.
  assert (E : forall W, logit D W i 0 - logit D W i t = inner (dim D) (phi D (base D) i t) W).
  { intros W. now rewrite <- margin_inner, margin_logit, selected_base. }
  rewrite E, inner_comm, inner_scale, inner_sum.
  rewrite (sum_ext (size D) _ (fun j => delta i j * (b i t / (Td D * Qd D)))).
  - rewrite delta_sum by easy. pose proof (Td_pos D); pose proof (Qd_pos D). field. split; lra.
  - intros j Hj. rewrite <- (Hu i Hi t Ht).
    destruct (Nat.eq_dec j i) as [->|Hn].
    + unfold delta; rewrite Nat.eqb_refl, Rmult_1_l.
      assert (Ei := Hy i Hi i Hi). unfold delta in Ei; rewrite Nat.eqb_refl in Ei.
      unfold Rdiv. rewrite <- sum_scale_r. apply sum_ext; intros a _.
      rewrite (sum_ext (dim D) _ (fun c => vec (difference D (base D) i t) a * u i a
        * / (Td D * Qd D) * (vec (zZ D i) c * y i c))).
      * rewrite sum_scale, Ei; ring.
      * intros c _. rewrite phi_vec. unfold Rdiv; ring.
    + replace (delta i j) with 0 by (unfold delta; destruct (Nat.eqb_spec i j); [congruence|easy]).
      rewrite Rmult_0_l. apply sum_zero; intros a _.
      assert (Ej := Hy j Hj i Hi). unfold delta in Ej.
      destruct (Nat.eqb_spec j i); [easy|].
      rewrite (sum_ext (dim D) _ (fun c => vec (difference D (base D) i t) a * u j a
        * / (Td D * Qd D) * (vec (zZ D i) c * y j c))).
      * rewrite sum_scale, Ej; ring.
      * intros c _. rewrite phi_vec. unfold Rdiv; ring.
Qed.

Theorem independent_rows_sound D A : check_independent_rows D A = true ->
  full_rank D /\ every_selection_feasible D.
Proof.
  intros H; apply independent_rows_shatter in H.
  split; [now apply shatters_full_rank|now apply shatters_feasible].
Qed.

Theorem independent_factors_sound D A As : check_independent_factors D A As = true ->
  full_rank D /\ every_selection_feasible D.
Proof.
  intros H; apply independent_factors_shatter in H.
  split; [now apply shatters_full_rank|now apply shatters_feasible].
Qed.

(** ** Dependence: coefficients, not all 0, of a combination that is 0 *)

Definition check_dependent (D : dataset) (L : list (list Z)) (i t : nat) : bool :=
  well_formed D && Nat.ltb i (size D) && Nat.ltb 0 t && Nat.ltb t (count D i)
  && negb (Z.eqb (coefficient L i t) 0)
  && Nat.eqb (length L) (size D)
  && all (size D) (fun i => Nat.eqb (length (nth i L [])) (count D i))
  && is_zero (combinationZ D (base D) L).

Theorem dependent_sound D L i t : check_dependent D L i t = true -> ~ full_rank D.
Proof.
  unfold check_dependent; rewrite !andb_true_iff, !Nat.ltb_lt, negb_true_iff, Z.eqb_neq.
  intros [[[[[[[WF Hi] H0] Ht] Hc] _] _] HZ] HF. apply Hc, eq_IZR.
  apply (HF (fun i t => IZR (coefficient L i t))); [|easy|lia].
  intros a b Ha Hb.
  pose proof (combinationZ_spec D (base D) L a b) as E. rewrite (is_zero_spec _ _ _ HZ) in E.
  assert (0 < Td D * Qd D) by (pose proof (Td_pos D); pose proof (Qd_pos D); nra).
  assert (E0 : combination D (base D) (fun i t => IZR (coefficient L i t)) a b = 0) by nra.
  rewrite <- E0. unfold combination. apply sum_ext; intros j _; apply sum_ext; intros s _.
  now rewrite phi_base.
Qed.
