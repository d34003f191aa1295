(** Finite sums, inner products and squared norms of real matrices. *)

From Coq Require Import Arith Lia Reals Lra Psatz.
From AttSVM Require Import Dataset.
Local Open Scope R_scope.

Section Sum.
Implicit Types f g : nat -> R.

Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; [easy|]. rewrite IHn, H; auto with arith. Qed.

Lemma sum_plus n f g : sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; ring. Qed.

Lemma sum_minus n f g : sum n (fun k => f k - g k) = sum n f - sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn; ring. Qed.

Lemma sum_scale n c f : sum n (fun k => c * f k) = c * sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn; ring. Qed.

Lemma sum_scale_r n c f : sum n (fun k => f k * c) = sum n f * c.
Proof. induction n; simpl; [lra|]. rewrite IHn; ring. Qed.

Lemma sum_zero n f : (forall k, (k < n)%nat -> f k = 0) -> sum n f = 0.
Proof. induction n; simpl; intros H; [easy|]. rewrite IHn, H; auto with arith. lra. Qed.

Lemma sum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  apply Rplus_le_compat; auto with arith.
Qed.

Lemma sum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof.
  intros H. apply Rle_trans with (sum n (fun _ => 0)); [|now apply sum_le].
  right; symmetry; now apply sum_zero.
Qed.

Lemma sum_term n f k : (forall j, (j < n)%nat -> 0 <= f j) -> (k < n)%nat -> f k <= sum n f.
Proof.
  induction n; simpl; intros H Hk; [lia|].
  assert (0 <= f n) by (apply H; lia).
  destruct (Nat.eq_dec k n) as [->|].
  - assert (0 <= sum n f) by (apply sum_nonneg; auto with arith). lra.
  - assert (f k <= sum n f) by (apply IHn; [auto with arith|lia]). lra.
Qed.

Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl.
  - symmetry; now apply sum_zero.
  - now rewrite IHn, <- sum_plus.
Qed.

Lemma sum_single n f k : (k < n)%nat -> (forall j, (j < n)%nat -> j <> k -> f j = 0) ->
  sum n f = f k.
Proof.
  induction n; simpl; intros Hk H; [lia|].
  destruct (Nat.eq_dec k n) as [->|].
  - rewrite sum_zero; [lra|]. intros j Hj; apply H; lia.
  - rewrite IHn, (H n); [lra|lia|lia|lia|]. intros j Hj; apply H; lia.
Qed.

Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun k => Rabs (f k)).
Proof.
  induction n; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

End Sum.

(** ** Inner products of matrices *)

Definition inner (d : nat) (A B : matrix) : R := sum d (fun a => sum d (fun b => A a b * B a b)).

Section Inner.
Variable d : nat.
Implicit Types A B C : matrix.

Lemma inner_ext A B A' B' :
  (forall a b, (a < d)%nat -> (b < d)%nat -> A a b = A' a b) ->
  (forall a b, (a < d)%nat -> (b < d)%nat -> B a b = B' a b) -> inner d A B = inner d A' B'.
Proof.
  intros HA HB; apply sum_ext; intros a Ha; apply sum_ext; intros b Hb.
  now rewrite HA, HB.
Qed.

Lemma inner_comm A B : inner d A B = inner d B A.
Proof. apply sum_ext; intros; apply sum_ext; intros; ring. Qed.

Lemma inner_plus A B C : inner d (fun a b => A a b + B a b) C = inner d A C + inner d B C.
Proof.
  unfold inner; rewrite <- sum_plus; apply sum_ext; intros.
  rewrite <- sum_plus; apply sum_ext; intros; ring.
Qed.

Lemma inner_scale c A B : inner d (fun a b => c * A a b) B = c * inner d A B.
Proof.
  unfold inner; rewrite <- sum_scale; apply sum_ext; intros.
  rewrite <- sum_scale; apply sum_ext; intros; ring.
Qed.

Lemma inner_minus A B C : inner d (fun a b => A a b - B a b) C = inner d A C - inner d B C.
Proof.
  unfold inner; rewrite <- sum_minus; apply sum_ext; intros.
  rewrite <- sum_minus; apply sum_ext; intros; ring.
Qed.

Lemma inner_sum n (F : nat -> matrix) B :
  inner d (fun a b => sum n (fun k => F k a b)) B = sum n (fun k => inner d (F k) B).
Proof.
  induction n; simpl.
  - apply sum_zero; intros; apply sum_zero; intros; ring.
  - now rewrite inner_plus, IHn.
Qed.

Lemma norm2_inner A : norm2 d A = inner d A A.
Proof. reflexivity. Qed.

Lemma norm2_ext A B : (forall a b, (a < d)%nat -> (b < d)%nat -> A a b = B a b) ->
  norm2 d A = norm2 d B.
Proof. intros H; now apply inner_ext. Qed.

Lemma norm2_nonneg A : 0 <= norm2 d A.
Proof. apply sum_nonneg; intros; apply sum_nonneg; intros; nra. Qed.

Lemma norm2_entry A a b : (a < d)%nat -> (b < d)%nat -> A a b * A a b <= norm2 d A.
Proof.
  intros Ha Hb.
  apply Rle_trans with (sum d (fun b => A a b * A a b)).
  - apply (sum_term d (fun b => A a b * A a b)); [|easy]. intros; nra.
  - apply (sum_term d (fun a => sum d (fun b => A a b * A a b))); [|easy].
    intros; apply sum_nonneg; intros; nra.
Qed.

Lemma distance2_expand A B : distance2 d A B = norm2 d A - 2 * inner d A B + norm2 d B.
Proof.
  unfold distance2; rewrite !norm2_inner, inner_minus.
  rewrite (inner_comm A (fun a b => A a b - B a b)), (inner_comm B (fun a b => A a b - B a b)).
  rewrite !inner_minus, (inner_comm B A). ring.
Qed.

Lemma distance2_sym A B : distance2 d A B = distance2 d B A.
Proof. rewrite !distance2_expand, (inner_comm B A). ring. Qed.

Lemma distance2_zero A B : distance2 d A B <= 0 ->
  forall a b, (a < d)%nat -> (b < d)%nat -> A a b = B a b.
Proof.
  intros H a b Ha Hb. pose proof (norm2_entry (fun a b => A a b - B a b) a b Ha Hb).
  unfold distance2 in H. simpl in *. nra.
Qed.

(** Cauchy and Schwarz, squared. *)
Lemma cauchy_schwarz A B : inner d A B * inner d A B <= norm2 d A * norm2 d B.
Proof.
  pose proof (norm2_nonneg A) as HA. pose proof (norm2_nonneg B) as HB.
  assert (E : forall s t, 0 <= s * s * norm2 d A - 2 * (s * t) * inner d A B
                             + t * t * norm2 d B).
  { intros s t.
    pose proof (norm2_nonneg (fun a b => s * A a b - t * B a b)) as H.
    rewrite norm2_inner, inner_minus, !inner_scale in H.
    rewrite (inner_comm A (fun a b => s * A a b - t * B a b)),
      (inner_comm B (fun a b => s * A a b - t * B a b)) in H.
    rewrite !inner_minus, !inner_scale, (inner_comm B A) in H.
    rewrite !norm2_inner. nra. }
  destruct (Rle_lt_or_eq_dec 0 _ HA) as [Hp|Hz].
  - specialize (E (inner d A B) (norm2 d A)).
    assert (0 <= norm2 d A * (norm2 d A * norm2 d B - inner d A B * inner d A B)) by nra.
    nra.
  - destruct (Req_dec (inner d A B) 0) as [H0|H0]; [rewrite H0, <- Hz; lra|].
    specialize (E ((1 + norm2 d B) / inner d A B) 1). rewrite <- Hz in E.
    replace (2 * ((1 + norm2 d B) / inner d A B * 1) * inner d A B)
      with (2 * (1 + norm2 d B)) in E by (field; easy). lra.
Qed.

Lemma form_inner u W w : form d u W w = inner d (fun a b => u a * w b) W.
Proof. apply sum_ext; intros; apply sum_ext; intros; ring. Qed.

Lemma form_minus u v W w : form d (fun a => u a - v a) W w = form d u W w - form d v W w.
Proof.
  rewrite !form_inner, <- inner_minus.
  apply inner_ext; intros; [ring|easy].
Qed.

End Inner.
