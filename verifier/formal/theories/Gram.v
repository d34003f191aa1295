(** Gram matrices of vectors and of features in integers, and approximate inverses of them. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Statements Sums Integers Margins Duality Systems.
Import ListNotations.
Local Open Scope R_scope.

Fixpoint sumZ (n : nat) (f : nat -> Z) : Z :=
  match n with
  | O => 0%Z
  | S m => (sumZ m f + f m)%Z
  end.

Lemma sumZ_spec n f : IZR (sumZ n f) = sum n (fun k => IZR (f k)).
Proof. induction n; simpl; [easy|]. now rewrite plus_IZR, IHn. Qed.

(** The matrix [entries] · [factor] / [over]; [bound] / (over · scale of the Gram matrix) bounds
    the row sums of |I - A K|. *)
Record inverse : Set := Inverse {
  entries : list (list Z);
  factor : Z;
  over : positive;
  bound : Z }.

Definition deviation (A : inverse) (s : nat) (G : list (list Z)) (c : positive) (k : nat) : Z :=
  let row := nth k (entries A) [] in
  sumZ s (fun j => Z.abs (factor A * dot row (nth j G [])
                          - (if Nat.eqb k j then Zpos (over A * c) else 0))).

(** K is G / c. *)
Definition check_inverse (A : inverse) (s : nat) (G : list (list Z)) (c : positive) : bool :=
  is_matrix s s G && is_matrix s s (entries A)
  && Z.leb 0 (bound A) && Z.ltb (bound A) (Zpos (over A * c))
  && all s (fun k => Z.leb (deviation A s G c k) (bound A)).

Section Inverse.
Variables (A : inverse) (s : nat) (G : list (list Z)) (c : positive).
Hypothesis OK : check_inverse A s G c = true.

Definition inverse_matrix (k m : nat) : R :=
  IZR (factor A) * mat (entries A) k m / IZR (Zpos (over A)).
Definition gram_matrix (j m : nat) : R := mat G j m / IZR (Zpos c).
Definition contraction : R := IZR (bound A) / IZR (Zpos (over A * c)).

Lemma contraction_range : 0 <= contraction < 1.
Proof.
  unfold check_inverse in OK; rewrite !andb_true_iff in OK.
  destruct OK as [[[_ H0] H1] _]. apply Zle_IZR in H0; apply Zlt_IZR in H1.
  pose proof (den_pos (over A * c)). unfold contraction. split.
  - apply Rmult_le_pos; [easy|]. left; now apply Rinv_0_lt_compat.
  - apply Rmult_lt_reg_r with (IZR (Zpos (over A * c))); [easy|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma inverse_rows k : (k < s)%nat ->
  sum s (fun j => Rabs (delta k j - sum s (fun m => inverse_matrix k m * gram_matrix j m)))
  <= contraction.
Proof.
  intros Hk. unfold check_inverse in OK; rewrite !andb_true_iff in OK.
  destruct OK as [[[[_ HE] _] _] Hall].
  pose proof (Zle_IZR _ _ (all_spec _ _ Hall k Hk)) as H. unfold deviation in H.
  rewrite sumZ_spec in H. pose proof (den_pos (over A * c)) as Hp.
  pose proof (den_pos (over A)) as Hr; pose proof (den_pos c) as Hc.
  assert (EU : IZR (Zpos (over A * c)) = IZR (Zpos (over A)) * IZR (Zpos c))
    by now rewrite Pos2Z.inj_mul, mult_IZR.
  unfold contraction. apply Rmult_le_reg_r with (IZR (Zpos (over A * c))); [easy|].
  replace (IZR (bound A) / IZR (Zpos (over A * c)) * IZR (Zpos (over A * c)))
    with (IZR (bound A)) by (field; lra).
  rewrite <- sum_scale_r. eapply Rle_trans; [|exact H]. right; apply sum_ext; intros j Hj.
  rewrite abs_IZR, minus_IZR, mult_IZR.
  rewrite <- (Rabs_right (IZR (Zpos (over A * c)))) at 1 by lra.
  rewrite <- Rabs_mult, <- Rabs_Ropp. f_equal.
  rewrite (dot_spec _ _ s) by (now apply (is_matrix_row s s)).
  unfold delta, inverse_matrix, gram_matrix.
  rewrite (sum_ext s (fun m => IZR (factor A) * mat (entries A) k m / IZR (Zpos (over A))
      * (mat G j m / IZR (Zpos c)))
    (fun m => IZR (factor A) / IZR (Zpos (over A * c))
      * (vec (nth k (entries A) []) m * vec (nth j G []) m))).
  - rewrite sum_scale, EU. destruct (Nat.eqb k j); rewrite ?EU; field; lra.
  - intros m _. rewrite EU. unfold mat. field; lra.
Qed.

Theorem gram_solve (g : nat -> R) : exists lambda, forall j, (j < s)%nat ->
  sum s (fun m => gram_matrix j m * lambda m) = g j.
Proof. exact (solve s gram_matrix inverse_matrix contraction contraction_range inverse_rows g). Qed.

End Inverse.

(** ** Vectors *)

Definition gram (V : list (list Z)) : list (list Z) := map (times V) V.

Lemma mat_map {B} (f : B -> list Z) (l : list B) (e : B) k : (k < length l)%nat ->
  nth k (map f l) [] = f (nth k l e).
Proof.
  intros Hk. rewrite (nth_indep _ [] (f e)) by now rewrite map_length. apply map_nth.
Qed.

(** Vectors whose Gram matrix has an approximate inverse take any prescribed products. *)
Theorem prescribe V d A (g : nat -> R) :
  check_inverse A (length V) (gram V) 1 = true ->
  (forall k, (k < length V)%nat -> length (nth k V []) = d) ->
  exists w, forall k, (k < length V)%nat -> sum d (fun a => vec (nth k V []) a * w a) = g k.
Proof.
  intros H Hd. destruct (gram_solve A _ _ _ H g) as (l & Hl).
  exists (fun a => sum (length V) (fun m => vec (nth m V []) a * l m)). intros k Hk.
  rewrite <- (Hl k Hk).
  rewrite (sum_ext d _ (fun a => sum (length V) (fun m =>
             vec (nth k V []) a * (vec (nth m V []) a * l m))))
    by (intros; now rewrite sum_scale).
  rewrite sum_swap. apply sum_ext; intros m Hm.
  rewrite (sum_ext d _ (fun a => vec (nth k V []) a * vec (nth m V []) a * l m))
    by (intros; ring).
  rewrite sum_scale_r. f_equal. unfold gram_matrix, gram, mat.
  rewrite (mat_map _ _ [] k Hk), (times_spec _ _ d) by now apply Hd.
  unfold Rdiv; rewrite Rinv_1, Rmult_1_r.
  apply sum_ext; intros; unfold mat; ring.
Qed.

(** ** Features *)

Section Features.
Variables (D : dataset) (alpha : selection).
Hypothesis WF : well_formed D = true.
Hypothesis SEL : selects D alpha = true.
Notation d := (dim D).

Definition difference (i t : nat) : list Z :=
  add (xZ D i (selected alpha i)) (scale (-1) (xZ D i t)).

Lemma add_length u w : length u = length w -> length (add u (scale (-1) w)) = length u.
Proof.
  revert w; induction u as [|a u IH]; intros [|b w]; simpl; try easy.
  intros E; now rewrite IH by congruence.
Qed.

Lemma difference_length i t : (i < size D)%nat -> (t < count D i)%nat ->
  length (difference i t) = d.
Proof.
  intros Hi Ht. destruct (wf_sample D WF i Hi) as (_ & Hx & _).
  pose proof (proj2 (selects_spec D alpha SEL) i Hi).
  unfold difference; rewrite add_length; rewrite ?Hx; auto.
Qed.

(** The inner product of two features, times [feature_scale2]. *)
Definition product (i t j s : nat) : Z :=
  (dot (difference i t) (difference j s) * dot (zZ D i) (zZ D j))%Z.

Definition feature_scale2 : positive :=
  (token_den D * query_den D * (token_den D * query_den D))%positive.

Lemma feature_scale2_IZR : IZR (Zpos feature_scale2) = Td D * Qd D * (Td D * Qd D).
Proof. unfold feature_scale2. now rewrite !Pos2Z.inj_mul, !mult_IZR. Qed.

Lemma phi_vec i t a b :
  phi D alpha i t a b = vec (difference i t) a * vec (zZ D i) b / (Td D * Qd D).
Proof.
  unfold phi, difference. rewrite !x_vec, z_vec, vec_add, vec_scale.
  pose proof (Td_pos D); pose proof (Qd_pos D). field. split; lra.
Qed.

Lemma product_spec i t j s : (i < size D)%nat -> (t < count D i)%nat -> (j < size D)%nat ->
  inner d (phi D alpha i t) (phi D alpha j s)
  = IZR (product i t j s) / IZR (Zpos feature_scale2).
Proof.
  intros Hi Ht Hj. destruct (wf_sample D WF i Hi) as (_ & _ & Hz & _).
  unfold product. rewrite mult_IZR, (dot_spec _ _ d (difference_length i t Hi Ht)),
    (dot_spec _ _ d Hz), feature_scale2_IZR.
  unfold inner, Rdiv. rewrite <- !sum_scale_r; apply sum_ext; intros a _.
  rewrite <- sum_scale, <- sum_scale_r; apply sum_ext; intros b _.
  rewrite !phi_vec. pose proof (Td_pos D); pose proof (Qd_pos D). field. split; lra.
Qed.

Definition row_product (r p : nat * nat) : Z := product (fst r) (snd r) (fst p) (snd p).

Definition feature_gram (rows : list (nat * nat)) : list (list Z) :=
  map (fun r => map (row_product r) rows) rows.

Definition row_at (rows : list (nat * nat)) (k : nat) : nat * nat := nth k rows (0, 0)%nat.
Definition phi_at (rows : list (nat * nat)) (k : nat) : matrix :=
  phi D alpha (fst (row_at rows k)) (snd (row_at rows k)).

(** All rows are tokens of samples. *)
Definition present (rows : list (nat * nat)) : bool :=
  forallb (fun r => Nat.ltb (fst r) (size D) && Nat.ltb (snd r) (count D (fst r))) rows.

Lemma present_spec rows k : present rows = true -> (k < length rows)%nat ->
  (fst (row_at rows k) < size D)%nat /\
  (snd (row_at rows k) < count D (fst (row_at rows k)))%nat.
Proof.
  unfold present; rewrite forallb_forall; intros H Hk.
  specialize (H _ (nth_In rows (0, 0)%nat Hk)).
  rewrite andb_true_iff, !Nat.ltb_lt in H. exact H.
Qed.

Lemma feature_gram_spec rows j m : present rows = true ->
  (j < length rows)%nat -> (m < length rows)%nat ->
  gram_matrix (feature_gram rows) feature_scale2 j m
  = inner d (phi_at rows j) (phi_at rows m).
Proof.
  intros H Hj Hm. destruct (present_spec rows j H Hj), (present_spec rows m H Hm).
  unfold phi_at; rewrite product_spec by easy.
  unfold gram_matrix, feature_gram, mat. f_equal.
  rewrite (mat_map _ _ (0, 0)%nat j Hj). unfold vec.
  rewrite (nth_indep _ 0%Z (row_product (nth j rows (0, 0)%nat) (0, 0)%nat))
    by now rewrite map_length.
  now rewrite map_nth.
Qed.

(** Σ_k λ_k φ_k over the rows. *)
Definition row_combination (rows : list (nat * nat)) (l : nat -> R) : matrix :=
  fun a b => sum (length rows) (fun k => l k * phi_at rows k a b).

Lemma row_combination_inner rows l B :
  inner d (row_combination rows l) B
  = sum (length rows) (fun k => l k * inner d (phi_at rows k) B).
Proof. unfold row_combination. rewrite inner_sum. apply sum_ext; intros; apply inner_scale. Qed.

(** Features whose Gram matrix has an approximate inverse take any prescribed margins. *)
Theorem prescribe_margins rows A (g : nat -> R) : present rows = true ->
  check_inverse A (length rows) (feature_gram rows) feature_scale2 = true ->
  exists l, forall k, (k < length rows)%nat ->
  inner d (phi_at rows k) (row_combination rows l) = g k.
Proof.
  intros HP H. destruct (gram_solve A _ _ _ H g) as (l & Hl). exists l; intros k Hk.
  rewrite <- (Hl k Hk), inner_comm, row_combination_inner. apply sum_ext; intros m Hm.
  rewrite (feature_gram_spec rows k m HP Hk Hm), (inner_comm d (phi_at rows m)). ring.
Qed.

End Features.
