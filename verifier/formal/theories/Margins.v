(** Logits, margins and combinations of features in integers. *)

From Coq Require Import Arith Bool Lia List Reals Lra ZArith.
From AttSVM Require Import Dataset Statements Sums Integers.
Import ListNotations.
Local Open Scope R_scope.

Definition xZ (D : dataset) (i t : nat) : list Z := nth t (tokens (sample_of D i)) [].
Definition zZ (D : dataset) (i : nat) : list Z := query (sample_of D i).

Definition Td (D : dataset) : R := IZR (Zpos (token_den D)).
Definition Qd (D : dataset) : R := IZR (Zpos (query_den D)).
Definition Hd (D : dataset) : R := IZR (Zpos (head_den D)).

Lemma Td_pos D : 0 < Td D. Proof. apply den_pos. Qed.
Lemma Qd_pos D : 0 < Qd D. Proof. apply den_pos. Qed.
Lemma Hd_pos D : 0 < Hd D. Proof. apply den_pos. Qed.

Section Data.
Variable D : dataset.
Hypothesis WF : well_formed D = true.
Notation d := (dim D).

Lemma wf_split : (1 <= d)%nat /\ (1 <= size D)%nat /\ length (head D) = d /\
  forall i, (i < size D)%nat -> well_formed_sample d (sample_of D i) = true.
Proof.
  unfold well_formed in WF. rewrite !andb_true_iff in WF.
  destruct WF as [[[H1 H2] H3] H4].
  apply Nat.leb_le in H1, H2. apply Nat.eqb_eq in H3.
  repeat split; try easy.
  intros i Hi. rewrite forallb_forall in H4. apply H4, nth_In, Hi.
Qed.

Lemma wf_sample i : (i < size D)%nat ->
  (2 <= count D i)%nat /\ (forall t, (t < count D i)%nat -> length (xZ D i t) = d)
  /\ length (zZ D i) = d /\ (Y D i = 1 \/ Y D i = -1).
Proof.
  intros Hi. destruct wf_split as (_ & _ & _ & H). specialize (H i Hi).
  unfold well_formed_sample in H. rewrite !andb_true_iff in H.
  destruct H as [[[H1 H2] H3] H4].
  apply Nat.leb_le in H1. apply Nat.eqb_eq in H3. rewrite forallb_forall in H2.
  repeat split; try easy.
  - intros t Ht. apply Nat.eqb_eq, H2, nth_In, Ht.
  - unfold Y. apply orb_true_iff in H4.
    destruct H4 as [H4|H4]; apply Z.eqb_eq in H4; rewrite H4; auto.
Qed.

Lemma x_vec i t a : x D i t a = vec (xZ D i t) a / Td D.
Proof. reflexivity. Qed.

Lemma z_vec i b : z D i b = vec (zZ D i) b / Qd D.
Proof. reflexivity. Qed.

(** ** Scores *)

Definition scoreZ (i t : nat) : Z := (label (sample_of D i) * dot (head D) (xZ D i t))%Z.

Lemma score_spec i t : score D i t = IZR (scoreZ i t) / (Hd D * Td D).
Proof.
  destruct wf_split as (_ & _ & Hh & _).
  unfold score, scoreZ, Y. rewrite mult_IZR, (dot_spec _ _ d Hh).
  rewrite (sum_ext d (fun a => v D a * x D i t a)
             (fun a => vec (head D) a * vec (xZ D i t) a * / (Hd D * Td D))).
  - rewrite sum_scale_r; unfold Rdiv; ring.
  - intros a _. unfold v, x. rewrite !entry_vec. fold (Td D) (Hd D).
    pose proof (Td_pos D); pose proof (Hd_pos D). unfold xZ. field. split; lra.
Qed.

Lemma score_scale : 0 < / (Hd D * Td D).
Proof. pose proof (Td_pos D); pose proof (Hd_pos D). apply Rinv_0_lt_compat; nra. Qed.

Lemma score_lt i t s : (scoreZ i t <? scoreZ i s)%Z = true -> score D i t < score D i s.
Proof.
  intros H; rewrite !score_spec. apply Rmult_lt_compat_r; [apply score_scale|now apply Zlt_IZR].
Qed.

Lemma score_le i t s : (scoreZ i t <=? scoreZ i s)%Z = true -> score D i t <= score D i s.
Proof.
  intros H; rewrite !score_spec.
  apply Rmult_le_compat_r; [left; apply score_scale|now apply Zle_IZR].
Qed.

Lemma score_eq i t s : (scoreZ i t =? scoreZ i s)%Z = true -> score D i t = score D i s.
Proof. intros H; rewrite !score_spec. now rewrite (Zeq_IZR _ _ H). Qed.

(** ** Logits and margins of a matrix M / q *)

Section Matrix.
Variables (M : list (list Z)) (q : positive).
Definition unit_margin : Z := (Zpos q * Zpos (token_den D) * Zpos (query_den D))%Z.

(** The logits of the tokens of sample i, times [unit_margin]. *)
Definition logits (i : nat) : list Z := times (tokens (sample_of D i)) (times M (zZ D i)).

Lemma unit_margin_IZR : IZR unit_margin = IZR (Zpos q) * Td D * Qd D.
Proof. unfold unit_margin; now rewrite !mult_IZR. Qed.

Lemma unit_margin_pos : 0 < IZR unit_margin.
Proof. apply IZR_lt; reflexivity. Qed.

Lemma form_rational u w : form d u (rational M q) w = form d u (mat M) w / IZR (Zpos q).
Proof.
  unfold form, Rdiv. rewrite <- sum_scale_r; apply sum_ext; intros a _.
  rewrite <- sum_scale_r; apply sum_ext; intros b _.
  rewrite rational_mat; unfold Rdiv; ring.
Qed.

Lemma form_tokens i t N : form d (x D i t) N (z D i)
  = form d (vec (xZ D i t)) N (vec (zZ D i)) / (Td D * Qd D).
Proof.
  unfold form, Rdiv. rewrite <- sum_scale_r; apply sum_ext; intros a _.
  rewrite <- sum_scale_r; apply sum_ext; intros b _.
  rewrite x_vec, z_vec. pose proof (Td_pos D); pose proof (Qd_pos D). field. split; lra.
Qed.

Lemma logits_spec i t : length M = d -> (i < size D)%nat -> (t < count D i)%nat ->
  IZR (nth t (logits i) 0%Z) = logit D (rational M q) i t * IZR unit_margin.
Proof.
  intros HM Hi Ht. destruct (wf_sample i Hi) as (_ & Hx & Hz & _).
  change (vec (times (tokens (sample_of D i)) (times M (zZ D i))) t
          = logit D (rational M q) i t * IZR unit_margin).
  rewrite (times_spec _ _ d) by (now rewrite length_times).
  unfold logit. rewrite form_rational, form_tokens, <- (form_spec d) by auto.
  rewrite (dot_spec _ _ d) by auto. rewrite unit_margin_IZR.
  pose proof (Td_pos D); pose proof (Qd_pos D); pose proof (den_pos q).
  rewrite (sum_ext d (fun b => mat (tokens (sample_of D i)) t b * vec (times M (zZ D i)) b)
     (fun a => vec (xZ D i t) a * vec (times M (zZ D i)) a)) by reflexivity.
  field. repeat split; lra.
Qed.

End Matrix.

Lemma margin_logit alpha W i t :
  margin D alpha W i t = logit D W i (selected alpha i) - logit D W i t.
Proof. apply form_minus. Qed.

Lemma selects_spec alpha : selects D alpha = true ->
  length alpha = size D /\ forall i, (i < size D)%nat -> (selected alpha i < count D i)%nat.
Proof.
  unfold selects; rewrite andb_true_iff, Nat.eqb_eq; intros [Hl H]. split; [easy|].
  intros i Hi. apply Nat.ltb_lt, (all_spec (size D) _ H i Hi).
Qed.

(** The margin of M / q at a rejected token, in integers. *)
Lemma margin_spec alpha M q i t : selects D alpha = true -> length M = d ->
  rejected D alpha i t ->
  IZR (nth (selected alpha i) (logits M i) 0%Z - nth t (logits M i) 0%Z)
  = margin D alpha (rational M q) i t * IZR (unit_margin q).
Proof.
  intros Ha HM (Hi & Ht & _). destruct (selects_spec _ Ha) as [_ Hs].
  rewrite minus_IZR, !(logits_spec M q) by auto. rewrite margin_logit. ring.
Qed.

(** [f] holds of all rejected tokens of sample i. *)
Definition all_rejected (alpha : selection) (i : nat) (f : nat -> bool) : bool :=
  all (count D i) (fun t => Nat.eqb t (selected alpha i) || f t).

Lemma all_rejected_spec alpha i f : all_rejected alpha i f = true ->
  forall t, rejected D alpha i t -> f t = true.
Proof.
  intros H t (_ & Ht & Hn). pose proof (all_spec _ _ H t Ht) as E.
  apply orb_true_iff in E; destruct E as [E|E]; [|easy].
  now apply Nat.eqb_eq in E.
Qed.

(** ** Combinations of features *)

(** Entry a, b of the feature of token t of sample i under alpha. *)
Definition phi (alpha : selection) (i t : nat) : matrix :=
  fun a b => (x D i (selected alpha i) a - x D i t a) * z D i b.

Lemma margin_inner alpha W i t : margin D alpha W i t = inner d (phi alpha i t) W.
Proof. unfold margin; now rewrite form_inner. Qed.

(** Σ_i Σ_t c_it φ_it. *)
Definition combination (alpha : selection) (c : nat -> nat -> R) : matrix :=
  fun a b => sum (size D) (fun i => sum (count D i) (fun t => c i t * phi alpha i t a b)).

(** Σ_i Σ_t f_it. *)
Definition total (f : nat -> nat -> R) : R :=
  sum (size D) (fun i => sum (count D i) (fun t => f i t)).

Lemma combination_inner alpha c W :
  inner d (combination alpha c) W = total (fun i t => c i t * margin D alpha W i t).
Proof.
  unfold combination. rewrite inner_sum; apply sum_ext; intros i _.
  rewrite inner_sum; apply sum_ext; intros t _.
  now rewrite inner_scale, margin_inner.
Qed.

(** The multipliers of a certificate: a list for every sample, an integer for every token. *)
Definition coefficient (L : list (list Z)) (i t : nat) : Z := nth t (nth i L []) 0%Z.

Fixpoint spread (alpha : selection) (l : list Z) (i T : nat) : list Z :=
  match T with
  | O => []
  | S t =>
    let c := nth t l 0%Z in
    if Z.eqb c 0 then spread alpha l i t
    else add (spread alpha l i t)
             (scale c (add (xZ D i (selected alpha i)) (scale (-1) (xZ D i t))))
  end.

Fixpoint combine (alpha : selection) (L : list (list Z)) (n : nat) : list (list Z) :=
  match n with
  | O => []
  | S i => add_rows (combine alpha L i)
                    (outer (spread alpha (nth i L []) i (count D i)) (zZ D i))
  end.

Definition combinationZ (alpha : selection) (L : list (list Z)) : list (list Z) :=
  combine alpha L (size D).

Lemma spread_spec alpha l i T a : vec (spread alpha l i T) a
  = sum T (fun t => vec l t * (vec (xZ D i (selected alpha i)) a - vec (xZ D i t) a)).
Proof.
  induction T; simpl; [apply vec_nil|].
  destruct (Z.eqb_spec (nth T l 0%Z) 0) as [E|E].
  - rewrite IHT. replace (vec l T) with 0 by (unfold vec; now rewrite E). ring.
  - rewrite vec_add, vec_scale, vec_add, vec_scale, IHT.
    change (IZR (nth T l 0%Z)) with (vec l T). ring.
Qed.

Lemma combinationZ_spec alpha L a b : mat (combinationZ alpha L) a b
  = combination alpha (fun i t => IZR (coefficient L i t)) a b * (Td D * Qd D).
Proof.
  unfold combinationZ, combination. rewrite <- sum_scale_r.
  induction (size D) as [|n IH]; simpl; [apply mat_nil|].
  rewrite mat_add, IH. f_equal.
  rewrite mat_outer, spread_spec, <- !sum_scale_r. apply sum_ext; intros t _.
  unfold phi. rewrite !x_vec, z_vec. unfold coefficient, vec.
  pose proof (Td_pos D); pose proof (Qd_pos D). field. split; lra.
Qed.

(** The multipliers have the shape of the dataset, are not negative, and 0 at selected tokens. *)
Definition multipliers (alpha : selection) (L : list (list Z)) : bool :=
  Nat.eqb (length L) (size D)
  && all (size D) (fun i =>
       Nat.eqb (length (nth i L [])) (count D i)
       && Z.eqb (coefficient L i (selected alpha i)) 0
       && forallb (Z.leb 0) (nth i L [])).

Lemma multipliers_spec alpha L : multipliers alpha L = true ->
  forall i, (i < size D)%nat -> length (nth i L []) = count D i
  /\ coefficient L i (selected alpha i) = 0%Z
  /\ forall t, (0 <= coefficient L i t)%Z.
Proof.
  unfold multipliers; rewrite andb_true_iff; intros [_ H] i Hi.
  pose proof (all_spec _ _ H i Hi) as E; simpl in E.
  rewrite !andb_true_iff, Nat.eqb_eq, Z.eqb_eq, forallb_forall in E.
  destruct E as [[E1 E2] E3]. repeat split; try easy.
  intros t. unfold coefficient.
  destruct (nth_in_or_default t (nth i L []) 0%Z) as [Hin|E]; [|rewrite E; lia].
  apply Z.leb_le, E3, Hin.
Qed.

(** The sum of all multipliers. *)
Definition totalZ (L : list (list Z)) : Z := fold_right Z.add 0%Z (map (fold_right Z.add 0%Z) L).

Lemma fold_sum l : IZR (fold_right Z.add 0%Z l) = sum (length l) (vec l).
Proof.
  induction l as [|c l IH]; [reflexivity|].
  simpl length; rewrite sum_shift. simpl fold_right; rewrite plus_IZR, IH. reflexivity.
Qed.

Lemma totalZ_spec alpha L : multipliers alpha L = true ->
  IZR (totalZ L) = total (fun i t => IZR (coefficient L i t)).
Proof.
  intros H. pose proof (multipliers_spec _ _ H) as Hs.
  unfold multipliers in H; rewrite andb_true_iff, Nat.eqb_eq in H; destruct H as [Hl _].
  unfold totalZ, total. rewrite fold_sum, map_length, Hl. apply sum_ext; intros i Hi.
  unfold vec at 1. change 0%Z with (fold_right Z.add 0%Z []) at 2.
  rewrite map_nth, fold_sum. destruct (Hs i Hi) as [-> _]. reflexivity.
Qed.

(** Sums over all tokens need only look at the rejected ones. *)
Lemma total_ext f g :
  (forall i t, (i < size D)%nat -> (t < count D i)%nat -> f i t = g i t) -> total f = total g.
Proof. intros H; apply sum_ext; intros i Hi; apply sum_ext; intros t Ht; auto. Qed.

Lemma total_le f g :
  (forall i t, (i < size D)%nat -> (t < count D i)%nat -> f i t <= g i t) -> total f <= total g.
Proof. intros H; apply sum_le; intros i Hi; apply sum_le; intros t Ht; auto. Qed.

Lemma total_term f i t :
  (forall i t, (i < size D)%nat -> (t < count D i)%nat -> 0 <= f i t) ->
  (i < size D)%nat -> (t < count D i)%nat -> f i t <= total f.
Proof.
  intros H Hi Ht. apply Rle_trans with (sum (count D i) (fun t => f i t)).
  - apply (sum_term (count D i) (fun t => f i t)); auto.
  - apply (sum_term (size D) (fun i => sum (count D i) (fun t => f i t))); [|easy].
    intros j Hj; apply sum_nonneg; auto.
Qed.

Lemma total_scale c f : total (fun i t => c * f i t) = c * total f.
Proof.
  unfold total; rewrite <- sum_scale; apply sum_ext; intros; apply sum_scale.
Qed.

End Data.
