(** Checker of support indices without large numbers: an approximate inverse of the Gram matrix
    of some rows shows that the exact multipliers, which give these rows margin 1, are near the
    stated ones; then they are positive and all other margins exceed 1. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins Feasibility Existence Duality
  Systems Gram.
Import ListNotations.
Local Open Scope R_scope.

(** Multipliers [weights] / [weight_den] of [rows]; [error] bounds the residual that [inverted],
    the approximate inverse, leaves. *)
Record enclosure : Set := Enclosure {
  rows : list (nat * nat);
  weights : list Z;
  weight_den : positive;
  inverted : inverse;
  error : Z }.

Section Enclosure.
Variables (D : dataset) (alpha : selection) (E : enclosure).
Notation Rows := (rows E).
Notation s := (length (rows E)).
Notation A := (inverted E).
Notation c := (feature_scale2 D).
Notation q := (weight_den E).

Definition weight (k : nat) : Z := nth k (weights E) 0%Z.

(** over · c less the bound of the defect: what multiplies every true error. *)
Definition clearance : Z := (Zpos (over A * c) - bound A)%Z.

(** (1 - K λ) c q. *)
Definition residual (G : list (list Z)) : list Z :=
  map (fun g => (Zpos (c * q) - dot g (weights E))%Z) G.

Definition same_feature (i t : nat) (r : nat * nat) : bool :=
  Z.eqb (product D alpha i t i t + row_product D alpha r r)
        (2 * row_product D alpha (i, t) r).

Definition tight_row (i t : nat) : bool := existsb (same_feature i t) Rows.

Definition above_one (i t : nat) : bool :=
  let P := map (row_product D alpha (i, t)) Rows in
  Z.ltb (Zpos (c * q) * clearance)
        (dot P (weights E) * clearance - error E * fold_right Z.add 0%Z (map Z.abs P)).

Definition check_enclosure : bool :=
  let G := feature_gram D alpha Rows in
  let rho := residual G in
  about D alpha && forallb (fun r => rejectedb D alpha (fst r) (snd r)) Rows
  && Nat.eqb (length (weights E)) s
  && check_inverse A s G c
  && all s (fun k => Z.leb (Z.abs (factor A * dot (nth k (entries A) []) rho)) (error E))
  && all s (fun k => Z.ltb (error E) (weight k * clearance))
  && all_rows D alpha (fun i t => tight_row i t || above_one i t).

Definition check_norm (an : Z) (ad : positive) (bn : Z) (bd : positive) : bool :=
  let total := (fold_right Z.add 0 (weights E) * clearance)%Z in
  let slack := (Z.of_nat s * error E)%Z in
  Z.leb (an * (Zpos q * clearance)) ((total - slack) * Zpos ad)
  && Z.leb ((total + slack) * Zpos bd) (bn * (Zpos q * clearance)).

Hypothesis OK : check_enclosure = true.

Lemma enclosure_split :
  well_formed D = true /\ selects D alpha = true
  /\ (forall k, (k < s)%nat -> rejected D alpha (fst (row_at Rows k)) (snd (row_at Rows k)))
  /\ length (weights E) = s
  /\ check_inverse A s (feature_gram D alpha Rows) c = true
  /\ (forall k, (k < s)%nat -> (Z.abs (factor A * dot (nth k (entries A) [])
        (residual (feature_gram D alpha Rows))) <= error E)%Z)
  /\ (forall k, (k < s)%nat -> (error E < weight k * clearance)%Z)
  /\ (forall i t, rejected D alpha i t -> tight_row i t || above_one i t = true).
Proof.
  unfold check_enclosure in OK; rewrite !andb_true_iff in OK.
  destruct OK as [[[[[[H1 H2] H3] H4] H5] H6] H7].
  destruct (about_spec _ _ H1) as [WF Hs].
  apply Nat.eqb_eq in H3. rewrite forallb_forall in H2.
  split; [easy|split; [easy|split; [|split; [easy|split; [easy|split; [|split]]]]]].
  - intros k Hk. apply (rejectedb_spec D alpha), H2, nth_In, Hk.
  - intros k Hk. apply Z.leb_le. exact (all_spec _ _ H5 k Hk).
  - intros k Hk. apply Z.ltb_lt. exact (all_spec _ _ H6 k Hk).
  - exact (all_rows_spec _ _ _ H7).
Qed.

Lemma rows_present : present D Rows = true.
Proof.
  destruct enclosure_split as (_ & _ & H & _). apply forallb_forall; intros r Hin.
  destruct (In_nth Rows r (0, 0)%nat Hin) as (k & Hk & Ek). specialize (H k Hk).
  unfold row_at in H; rewrite Ek in H. destruct H as (Hi & Ht & _).
  apply andb_true_iff; split; now apply Nat.ltb_lt.
Qed.

Notation K := (gram_matrix (feature_gram D alpha Rows) c).

Lemma K_inner j m : (j < s)%nat -> (m < s)%nat ->
  K j m = inner (dim D) (phi_at D alpha Rows j) (phi_at D alpha Rows m).
Proof.
  destruct enclosure_split as (WF & Hs & _).
  intros; apply feature_gram_spec; auto using rows_present.
Qed.

Lemma clearance_pos : 0 < IZR clearance.
Proof.
  destruct enclosure_split as (_ & _ & _ & _ & HA & _).
  unfold check_inverse in HA; rewrite !andb_true_iff in HA.
  destruct HA as [[_ HA] _]. apply Z.ltb_lt in HA. apply IZR_lt. unfold clearance; lia.
Qed.

(** The bound of the errors of the multipliers. *)
Definition epsilon : R := IZR (error E) / (IZR (Zpos q) * IZR clearance).
Definition stated (k : nat) : R := IZR (weight k) / IZR (Zpos q).

Lemma residual_spec l : (forall j, (j < s)%nat -> sum s (fun m => K j m * l m) = 1) ->
  forall j, (j < s)%nat ->
  sum s (fun m => K j m * (l m - stated m))
  = vec (residual (feature_gram D alpha Rows)) j / IZR (Zpos (c * q)).
Proof.
  intros Hl j Hj. destruct enclosure_split as (_ & _ & _ & HW & HA & _).
  unfold check_inverse in HA; rewrite !andb_true_iff in HA. destruct HA as [[[[HG _] _] _] _].
  rewrite (sum_ext s _ (fun m => K j m * l m - K j m * stated m)) by (intros; ring).
  rewrite sum_minus, Hl by easy. unfold vec, residual.
  rewrite (nth_indep _ 0%Z ((fun g => (Zpos (c * q) - dot g (weights E))%Z) []))
    by (now rewrite map_length, (is_matrix_length _ _ _ HG)).
  rewrite (map_nth (fun g => (Zpos (c * q) - dot g (weights E))%Z)).
  rewrite minus_IZR, (dot_spec _ _ s) by (now apply (is_matrix_row s s)).
  rewrite Pos2Z.inj_mul, mult_IZR. pose proof (den_pos c); pose proof (den_pos q).
  rewrite (sum_ext s (fun m => K j m * stated m) (fun m =>
    / (IZR (Zpos c) * IZR (Zpos q)) * (vec (nth j (feature_gram D alpha Rows) []) m
                                       * vec (weights E) m))).
  - rewrite sum_scale. field. split; lra.
  - intros m _. unfold gram_matrix, mat, stated, weight. unfold vec. field. split; lra.
Qed.

Lemma multipliers_close l : (forall j, (j < s)%nat -> sum s (fun m => K j m * l m) = 1) ->
  forall k, (k < s)%nat -> Rabs (l k - stated k) <= epsilon.
Proof.
  intros Hl k Hk. destruct enclosure_split as (WF & Hs & _ & _ & HA & He & _).
  pose proof (contraction_range A s _ c HA) as Hr.
  assert (Hsym : forall j m, (j < s)%nat -> (m < s)%nat -> K j m = K m j).
  { intros j m Hj Hm. rewrite !K_inner by easy. apply inner_comm. }
  pose proof (error_bound s K (inverse_matrix A) (contraction A c) Hr
    (inverse_rows A s _ c HA) Hsym l stated
    (IZR (error E) / (IZR (Zpos (over A * c)) * IZR (Zpos q)))) as H.
  pose proof (den_pos (over A * c)) as HU; pose proof (den_pos q) as Hq.
  pose proof clearance_pos as HC. pose proof (den_pos (over A)); pose proof (den_pos c).
  assert (HB : (1 - contraction A c) * IZR (Zpos (over A * c)) = IZR clearance).
  { unfold contraction, clearance. rewrite minus_IZR. field. lra. }
  specialize (fun P => H P k Hk). unfold epsilon.
  apply Rmult_le_reg_r with (IZR (Zpos q) * IZR clearance); [nra|].
  replace (IZR (error E) / (IZR (Zpos q) * IZR clearance) * (IZR (Zpos q) * IZR clearance))
    with (IZR (error E)) by (field; lra).
  rewrite <- HB.
  assert (HE : (1 - contraction A c) * Rabs (l k - stated k)
    <= IZR (error E) / (IZR (Zpos (over A * c)) * IZR (Zpos q))).
  { apply H. intros j Hj. clear H.
    rewrite (sum_ext s _ (fun m => IZR (factor A)
      / (IZR (Zpos (over A * c)) * IZR (Zpos q))
      * (vec (nth j (entries A) []) m * vec (residual (feature_gram D alpha Rows)) m))).
    - unfold check_inverse in HA; rewrite !andb_true_iff in HA.
      destruct HA as [[[[_ HM] _] _] _].
      rewrite sum_scale, <- (dot_spec _ _ s) by (now apply (is_matrix_row s s)).
      specialize (He j Hj). apply IZR_le in He. rewrite abs_IZR, mult_IZR in He.
      unfold Rdiv. rewrite Rmult_assoc, (Rmult_comm (/ _)), <- Rmult_assoc, Rabs_mult.
      assert (0 < / (IZR (Zpos (over A * c)) * IZR (Zpos q))) by (apply Rinv_0_lt_compat; nra).
      rewrite (Rabs_right (/ _)) by lra. apply Rmult_le_compat_r; lra.
    - intros m Hm. rewrite (residual_spec l Hl m Hm). unfold inverse_matrix, mat.
      rewrite !Pos2Z.inj_mul, !mult_IZR. field. repeat split; lra. }
  apply Rmult_le_compat_r with (r := IZR (Zpos (over A * c)) * IZR (Zpos q)) in HE; [|nra].
  replace (IZR (error E) / (IZR (Zpos (over A * c)) * IZR (Zpos q))
    * (IZR (Zpos (over A * c)) * IZR (Zpos q))) with (IZR (error E)) in HE by (field; lra).
  nra.
Qed.

Lemma tight_same i t : rejected D alpha i t -> tight_row i t = true ->
  exists k, (k < s)%nat /\ forall W,
  margin D alpha W i t = inner (dim D) (phi_at D alpha Rows k) W.
Proof.
  intros (Hi & Ht & _) H. destruct enclosure_split as (WF & Hs & Hrej & _).
  unfold tight_row in H. apply existsb_exists in H. destruct H as (r & Hin & H).
  destruct (In_nth Rows r (0, 0)%nat Hin) as (k & Hk & Ek). exists k; split; [easy|]. intros W.
  rewrite margin_inner. apply inner_ext; [|easy].
  unfold phi_at, row_at; rewrite Ek. apply distance2_zero.
  destruct (Hrej k Hk) as (Hi' & Ht' & _). unfold row_at in Hi', Ht'; rewrite Ek in Hi', Ht'.
  rewrite distance2_expand, !norm2_inner, !product_spec by auto.
  unfold same_feature, row_product in H. simpl fst in H; simpl snd in H.
  apply Zeq_IZR in H. rewrite plus_IZR, mult_IZR in H.
  pose proof (den_pos c). right.
  set (u := IZR (product D alpha i t i t)) in *.
  set (b := IZR (product D alpha i t (fst r) (snd r))) in *.
  set (w := IZR (product D alpha (fst r) (snd r) (fst r) (snd r))) in *.
  set (C := IZR (Zpos c)) in *. clearbody u b w C.
  replace (u / C - 2 * (b / C) + w / C) with ((u + w - 2 * b) / C) by (field; lra).
  rewrite H. field. lra.
Qed.

Lemma tight_row_spec k : (k < s)%nat ->
  tight_row (fst (row_at Rows k)) (snd (row_at Rows k)) = true.
Proof.
  intros Hk. unfold tight_row. apply existsb_exists. exists (row_at Rows k).
  split; [now apply nth_In|]. unfold same_feature, row_product. cbn [fst snd].
  apply Z.eqb_eq. ring.
Qed.

Lemma above_margin l i t : (forall k, (k < s)%nat -> Rabs (l k - stated k) <= epsilon) ->
  rejected D alpha i t -> above_one i t = true ->
  1 < margin D alpha (row_combination D alpha Rows l) i t.
Proof.
  intros Hl (Hi & Ht & _) H. destruct enclosure_split as (WF & Hs & Hrej & _).
  rewrite margin_inner, inner_comm, row_combination_inner.
  set (P := fun k => IZR (row_product D alpha (i, t) (row_at Rows k))).
  rewrite (sum_ext s _ (fun k => l k * (P k / IZR (Zpos c)))).
  2:{ intros k Hk. f_equal. rewrite inner_comm. unfold phi_at.
      destruct (Hrej k Hk) as (Hi' & Ht' & _). now apply product_spec. }
  assert (Hle : sum s (fun k => stated k * (P k / IZR (Zpos c))
                                - epsilon * (Rabs (P k) / IZR (Zpos c)))
                <= sum s (fun k => l k * (P k / IZR (Zpos c)))).
  { apply sum_le; intros k Hk. specialize (Hl k Hk). pose proof (den_pos c).
    assert (Rabs (stated k - l k) * Rabs (P k) <= epsilon * Rabs (P k)).
    { apply Rmult_le_compat_r; [apply Rabs_pos|]. now rewrite Rabs_minus_sym. }
    rewrite <- Rabs_mult in H1. pose proof (Rle_abs ((stated k - l k) * P k)).
    assert (0 < / IZR (Zpos c)) by now apply Rinv_0_lt_compat.
    unfold Rdiv. rewrite <- !Rmult_assoc, <- Rmult_minus_distr_r.
    apply Rmult_le_compat_r; lra. }
  eapply Rlt_le_trans; [|exact Hle]. clear Hle.
  rewrite sum_minus, sum_scale.
  unfold above_one in H. set (L := map (row_product D alpha (i, t)) Rows) in *.
  apply Zlt_IZR in H. rewrite minus_IZR, !mult_IZR in H.
  assert (EL : forall k, (k < s)%nat -> vec L k = P k).
  { intros k Hk. unfold vec, L, P, row_at.
    rewrite (nth_indep _ 0%Z (row_product D alpha (i, t) (0, 0)%nat)) by now rewrite map_length.
    now rewrite map_nth. }
  assert (EA : IZR (fold_right Z.add 0%Z (map Z.abs L)) = sum s (fun k => Rabs (P k))).
  { rewrite fold_sum, map_length. unfold L at 1; rewrite map_length. apply sum_ext; intros k Hk.
    rewrite <- (EL k Hk). unfold vec. change 0%Z with (Z.abs 0) at 1.
    now rewrite map_nth, abs_IZR. }
  assert (ED : IZR (dot L (weights E)) = sum s (fun k => P k * IZR (weight k))).
  { rewrite (dot_spec _ _ s) by (unfold L; apply map_length). apply sum_ext; intros k Hk.
    now rewrite EL. }
  rewrite EA, ED in H.
  rewrite (sum_ext s (fun k => stated k * (P k / IZR (Zpos c)))
    (fun k => / (IZR (Zpos c) * IZR (Zpos q)) * (P k * IZR (weight k)))).
  2:{ intros k _. unfold stated. pose proof (den_pos c); pose proof (den_pos q). field; lra. }
  rewrite sum_scale. unfold Rdiv. rewrite (sum_scale_r s (/ IZR (Zpos c))).
  set (X := sum s (fun k => P k * IZR (weight k))) in *.
  set (Z := sum s (fun k => Rabs (P k))) in *. unfold epsilon.
  rewrite Pos2Z.inj_mul, mult_IZR in H.
  pose proof (den_pos c) as Hc; pose proof (den_pos q) as Hq; pose proof clearance_pos as HC.
  apply Rmult_lt_reg_r with (IZR (Zpos c) * IZR (Zpos q) * IZR clearance).
  { repeat apply Rmult_lt_0_compat; assumption. }
  replace ((/ (IZR (Zpos c) * IZR (Zpos q)) * X
      - IZR (error E) / (IZR (Zpos q) * IZR clearance) * (Z * / IZR (Zpos c)))
      * (IZR (Zpos c) * IZR (Zpos q) * IZR clearance))
    with (X * IZR clearance - IZR (error E) * Z) by (field; repeat split; lra).
  lra.
Qed.

Theorem enclosure_solution : exists l,
  (forall k, (k < s)%nat -> Rabs (l k - stated k) <= epsilon) /\
  (forall i t, rejected D alpha i t ->
     (tight_row i t = true -> margin D alpha (row_combination D alpha Rows l) i t = 1) /\
     (tight_row i t = false -> 1 < margin D alpha (row_combination D alpha Rows l) i t)) /\
  optimum D alpha (row_combination D alpha Rows l) /\
  norm2 (dim D) (row_combination D alpha Rows l) = sum s l.
Proof.
  destruct enclosure_split as (WF & Hs & Hrej & HW & HA & _ & Hpos & Hall).
  destruct (gram_solve A s _ c HA (fun _ => 1)) as (l & Hl). exists l.
  pose proof (multipliers_close l Hl) as Hclose.
  set (W := row_combination D alpha Rows l).
  assert (HK : forall k, (k < s)%nat -> inner (dim D) (phi_at D alpha Rows k) W = 1).
  { intros k Hk. rewrite <- (Hl k Hk), inner_comm. unfold W. rewrite row_combination_inner.
    apply sum_ext; intros m Hm. rewrite K_inner by easy.
    rewrite (inner_comm _ (phi_at D alpha Rows m)). ring. }
  assert (HM : forall i t, rejected D alpha i t ->
     (tight_row i t = true -> margin D alpha W i t = 1) /\
     (tight_row i t = false -> 1 < margin D alpha W i t)).
  { intros i t Hr. split; intros Ht.
    - destruct (tight_same i t Hr Ht) as (k & Hk & E0). rewrite E0. now apply HK.
    - pose proof (Hall i t Hr) as Ho. rewrite Ht in Ho. now apply above_margin. }
  assert (HP : forall k, (k < s)%nat -> 0 <= l k).
  { intros k Hk. specialize (Hclose k Hk). apply abs_between in Hclose.
    pose proof (IZR_lt _ _ (Hpos k Hk)) as H. rewrite mult_IZR in H.
    pose proof clearance_pos; pose proof (den_pos q).
    assert (epsilon <= stated k); [|lra]. unfold epsilon, stated.
    apply Rmult_le_reg_r with (IZR (Zpos q) * IZR clearance); [nra|].
    replace (IZR (error E) / (IZR (Zpos q) * IZR clearance) * (IZR (Zpos q) * IZR clearance))
      with (IZR (error E)) by (field; lra).
    replace (IZR (weight k) / IZR (Zpos q) * (IZR (Zpos q) * IZR clearance))
      with (IZR (weight k) * IZR clearance) by (field; lra). lra. }
  assert (HN : norm2 (dim D) W = sum s l).
  { rewrite norm2_inner. unfold W at 1. rewrite row_combination_inner.
    apply sum_ext; intros k Hk. rewrite HK by easy. ring. }
  split; [exact Hclose|split; [exact HM|split; [|exact HN]]].
  apply optimum_criterion.
  - intros i t Hr. destruct (HM i t Hr) as [H1 H2].
    destruct (tight_row i t); [specialize (H1 eq_refl)|specialize (H2 eq_refl)]; lra.
  - intros V HV. rewrite HN. unfold W. rewrite row_combination_inner.
    apply sum_le; intros k Hk. specialize (HV _ _ (Hrej k Hk)). rewrite margin_inner in HV.
    specialize (HP k Hk). fold (phi_at D alpha Rows k) in HV. nra.
Qed.

Lemma enclosure_known : knows D alpha tight_row.
Proof.
  destruct enclosure_solution as (l & _ & HM & HO & _).
  split; [now eexists; exact HO|]. intros i t Hr.
  rewrite (support_index_margin D alpha _ i t HO Hr). destruct (HM i t Hr) as [H1 H2].
  split; [exact H1|]. intros E1. destruct (tight_row i t); [easy|].
  specialize (H2 eq_refl). lra.
Qed.

Lemma enclosure_norm an ad bn bd : check_norm an ad bn bd = true ->
  norm_between D alpha (ratio an ad) (ratio bn bd).
Proof.
  intros H. destruct enclosure_solution as (l & Hl & _ & HO & HN).
  split; [now eexists; exact HO|]. intros W HW.
  rewrite (norm2_ext _ _ _ (optimum_unique D alpha _ _ HW HO)), HN.
  unfold check_norm in H; rewrite andb_true_iff in H; destruct H as [Ha Hb].
  apply Zle_IZR in Ha, Hb. rewrite !mult_IZR in Ha, Hb.
  rewrite minus_IZR in Ha. rewrite plus_IZR in Hb. rewrite !mult_IZR in Ha, Hb.
  rewrite <- INR_IZR_INZ, fold_sum in Ha, Hb.
  destruct enclosure_split as (_ & _ & _ & HWl & _). rewrite HWl in Ha, Hb.
  pose proof clearance_pos as HC; pose proof (den_pos q) as Hq.
  pose proof (den_pos ad) as Had; pose proof (den_pos bd) as Hbd.
  assert (Hc : forall e n, sum n (fun _ => e) = INR n * e).
  { intros e n; induction n as [|n IH]; [simpl; lra|].
    rewrite S_INR; simpl sum; rewrite IH; ring. }
  set (T := sum s (vec (weights E))) in *.
  assert (ET : sum s stated = T / IZR (Zpos q)).
  { unfold T, Rdiv. rewrite <- sum_scale_r. reflexivity. }
  assert (H1 : sum s l <= T / IZR (Zpos q) + INR s * epsilon).
  { rewrite <- ET, <- Hc, <- sum_plus. apply sum_le; intros k Hk.
    specialize (Hl k Hk); apply abs_between in Hl. lra. }
  assert (H2 : T / IZR (Zpos q) - INR s * epsilon <= sum s l).
  { rewrite <- ET, <- Hc, <- sum_minus. apply sum_le; intros k Hk.
    specialize (Hl k Hk); apply abs_between in Hl. lra. }
  unfold epsilon in H1, H2. unfold ratio.
  split; [eapply Rle_trans; [|exact H2]|eapply Rle_trans; [exact H1|]].
  - apply Rmult_le_reg_r with (IZR (Zpos ad) * (IZR (Zpos q) * IZR clearance)).
    { repeat apply Rmult_lt_0_compat; assumption. }
    replace (IZR an / IZR (Zpos ad) * (IZR (Zpos ad) * (IZR (Zpos q) * IZR clearance)))
      with (IZR an * (IZR (Zpos q) * IZR clearance)) by (field; lra).
    eapply Rle_trans; [exact Ha|]. right. field. lra.
  - apply Rmult_le_reg_r with (IZR (Zpos bd) * (IZR (Zpos q) * IZR clearance)).
    { repeat apply Rmult_lt_0_compat; assumption. }
    replace (IZR bn / IZR (Zpos bd) * (IZR (Zpos bd) * (IZR (Zpos q) * IZR clearance)))
      with (IZR bn * (IZR (Zpos q) * IZR clearance)) by (field; lra).
    eapply Rle_trans; [|exact Hb]. right. field. lra.
Qed.

End Enclosure.

Section Checkers.
Variables (D : dataset) (alpha : selection) (E : enclosure).
Notation t_ := (tight_row D alpha E).

Definition check_support_enclosed (listed : list (nat * nat)) (an : Z) (ad : positive)
    (bn : Z) (bd : positive) : bool :=
  check_enclosure D alpha E && support_is D alpha t_ listed && check_norm D E an ad bn bd.
Definition check_all_support_enclosed : bool :=
  check_enclosure D alpha E && all_rows D alpha t_.
Definition check_not_all_support_enclosed (i t : nat) : bool :=
  check_enclosure D alpha E && (rejectedb D alpha i t && negb (t_ i t)).
Definition check_local_enclosed : bool :=
  check_enclosure D alpha E
  && all_rows D alpha (fun i t => scores_less D alpha i t || negb (t_ i t)).
Definition check_not_local_enclosed (i t : nat) : bool :=
  check_enclosure D alpha E && (rejectedb D alpha i t && t_ i t
                                && Z.leb (scoreZ D i (selected alpha i)) (scoreZ D i t)).

Theorem support_enclosed_sound listed an ad bn bd :
  check_support_enclosed listed an ad bn bd = true ->
  support D alpha listed /\ norm_between D alpha (ratio an ad) (ratio bn bd).
Proof.
  unfold check_support_enclosed; rewrite !andb_true_iff; intros [[H1 H2] H3]. split.
  - exact (support_is_spec _ _ _ (enclosure_known D alpha E H1) _ H2).
  - exact (enclosure_norm D alpha E H1 _ _ _ _ H3).
Qed.

Theorem all_support_enclosed_sound : check_all_support_enclosed = true -> all_support D alpha.
Proof.
  unfold check_all_support_enclosed; rewrite andb_true_iff; intros [H1 H2].
  exact (all_tight _ _ _ (enclosure_known D alpha E H1) H2).
Qed.

Theorem not_all_support_enclosed_sound i t :
  check_not_all_support_enclosed i t = true -> ~ all_support D alpha.
Proof.
  unfold check_not_all_support_enclosed; rewrite andb_true_iff; intros [H1 H2].
  exact (not_all_tight _ _ _ (enclosure_known D alpha E H1) i t H2).
Qed.

Theorem local_enclosed_sound : check_local_enclosed = true -> locally_optimal D alpha.
Proof.
  unfold check_local_enclosed; rewrite andb_true_iff; intros [H1 H2].
  apply (tight_less D alpha t_).
  - apply (enclosure_split D alpha E H1).
  - now apply enclosure_known.
  - apply forallb_forall; intros i Hi. unfold all_rows, all in H2.
    rewrite forallb_forall in H2. specialize (H2 i Hi).
    unfold all_rejected, all in *. rewrite forallb_forall in *. intros t Ht.
    specialize (H2 t Ht). now rewrite (orb_comm (negb _)).
Qed.

Theorem not_local_enclosed_sound i t :
  check_not_local_enclosed i t = true -> ~ locally_optimal D alpha.
Proof.
  unfold check_not_local_enclosed; rewrite andb_true_iff; intros [H1 H2].
  apply (tight_rival D alpha t_) with (i := i) (t := t);
    [apply (enclosure_split D alpha E H1)|now apply enclosure_known|exact H2].
Qed.

End Checkers.
