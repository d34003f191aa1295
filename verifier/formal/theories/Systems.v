(** Linear systems with an approximate inverse: K λ = g has a solution if all row sums of
    |I - A K| are below 1, and it is near any λ of small residual. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz ZArith.
From AttSVM Require Import Dataset Sums.
Local Open Scope R_scope.

Definition delta (k j : nat) : R := if Nat.eqb k j then 1 else 0.

Lemma delta_sum s k f : (k < s)%nat -> sum s (fun j => delta k j * f j) = f k.
Proof.
  intros Hk. rewrite (sum_single s _ k Hk).
  - unfold delta; rewrite Nat.eqb_refl; ring.
  - intros j _ Hn. unfold delta. destruct (Nat.eqb_spec k j); [congruence|ring].
Qed.

(** ** Fixed points of y = b + B y *)

Section Contraction.
Variables (s : nat) (B : nat -> nat -> R) (b : nat -> R) (beta : R).
Hypothesis beta_range : 0 <= beta < 1.
Hypothesis columns : forall k, (k < s)%nat -> sum s (fun j => Rabs (B j k)) <= beta.

Fixpoint term (m : nat) : nat -> R :=
  match m with
  | O => b
  | S m => fun k => sum s (fun j => B k j * term m j)
  end.

Definition size1 (y : nat -> R) : R := sum s (fun k => Rabs (y k)).

Lemma size1_nonneg y : 0 <= size1 y.
Proof. apply sum_nonneg; intros; apply Rabs_pos. Qed.

Lemma size1_term m : size1 (term m) <= size1 b * beta ^ m.
Proof.
  induction m as [|m IH]; [simpl; lra|].
  apply Rle_trans with (sum s (fun k => sum s (fun j => Rabs (B k j) * Rabs (term m j)))).
  - apply sum_le; intros k _. simpl. eapply Rle_trans; [apply sum_abs|].
    right; apply sum_ext; intros; apply Rabs_mult.
  - rewrite sum_swap. apply Rle_trans with (beta * size1 (term m)).
    + unfold size1; rewrite <- sum_scale; apply sum_le; intros j Hj.
      rewrite sum_scale_r. apply Rmult_le_compat_r; [apply Rabs_pos|]. now apply columns.
    + replace (size1 b * beta ^ S m) with (beta * (size1 b * beta ^ m)) by (simpl; ring).
      apply Rmult_le_compat_l; lra.
Qed.

Lemma term_bound m k : (k < s)%nat -> Rabs (term m k) <= size1 b * beta ^ m.
Proof.
  intros Hk. eapply Rle_trans; [|apply size1_term].
  apply (sum_term s (fun k => Rabs (term m k))); [|easy]. intros; apply Rabs_pos.
Qed.

Lemma geometric : { l : R | Un_cv (sum_f_R0 (fun m => size1 b * beta ^ m)) l }.
Proof.
  exists (size1 b * / (1 - beta)).
  apply Un_cv_ext with (fun n => size1 b * sum_f_R0 (fun m => beta ^ m) n).
  { intros n; rewrite scal_sum; apply sum_eq; intros; ring. }
  apply (CV_mult (fun _ => size1 b)).
  - intros e He; exists 0%nat; intros n _. rewrite R_dist_eq; lra.
  - pose proof (GP_infinite beta) as H. rewrite Rabs_right in H by lra.
    specialize (H (proj2 beta_range)). unfold Pser, infinite_sum in H.
    intros e He; destruct (H e He) as (N & HN). exists N; intros n Hn.
    specialize (HN n Hn). erewrite sum_eq; [exact HN|]. intros; simpl; ring.
Qed.

Lemma limit k : (k < s)%nat -> { l : R | Un_cv (sum_f_R0 (fun m => term m k)) l }.
Proof.
  intros Hk. apply cv_cauchy_2, cauchy_abs, cv_cauchy_1.
  apply Rseries_CV_comp with (Bn := fun m => size1 b * beta ^ m); [|apply geometric].
  intros m; split; [apply Rabs_pos|now apply term_bound].
Qed.

Definition fixed (k : nat) : R :=
  match lt_dec k s with
  | left Hk => proj1_sig (limit k Hk)
  | right _ => 0
  end.

Lemma fixed_cv k : (k < s)%nat -> Un_cv (sum_f_R0 (fun m => term m k)) (fixed k).
Proof.
  intros Hk; unfold fixed. destruct (lt_dec k s) as [H|]; [|easy].
  exact (proj2_sig (limit k H)).
Qed.

Lemma sum_cv n (F : nat -> nat -> R) (l : nat -> R) (c : nat -> R) :
  (forall j, (j < n)%nat -> Un_cv (F j) (l j)) ->
  Un_cv (fun m => sum n (fun j => c j * F j m)) (sum n (fun j => c j * l j)).
Proof.
  induction n as [|n IH]; intros H; simpl.
  - intros e He; exists 0%nat; intros m _. rewrite R_dist_eq; lra.
  - apply (CV_plus (fun m => sum n (fun j => c j * F j m)) (fun m => c n * F n m)).
    + apply IH; auto with arith.
    + apply (CV_mult (fun _ => c n) (F n)); [|auto with arith].
      intros e He; exists 0%nat; intros m _. rewrite R_dist_eq; lra.
Qed.

Lemma partial_step m k : sum_f_R0 (fun m => term m k) (S m)
  = b k + sum s (fun j => B k j * sum_f_R0 (fun m => term m j) m).
Proof.
  induction m as [|m IH]; [reflexivity|].
  change (sum_f_R0 (fun m => term m k) (S (S m)))
    with (sum_f_R0 (fun m => term m k) (S m) + term (S (S m)) k).
  rewrite IH. change (term (S (S m)) k) with (sum s (fun j => B k j * term (S m) j)).
  rewrite Rplus_assoc, <- sum_plus. f_equal. apply sum_ext; intros. simpl; ring.
Qed.

Theorem fixed_point k : (k < s)%nat -> fixed k = b k + sum s (fun j => B k j * fixed j).
Proof.
  intros Hk. apply (UL_sequence (fun m => sum_f_R0 (fun m => term m k) (S m))).
  - intros e He; destruct (fixed_cv k Hk e He) as (N & HN). exists N; intros n Hn.
    apply HN; lia.
  - apply Un_cv_ext with
      (fun m => b k + sum s (fun j => B k j * sum_f_R0 (fun m => term m j) m)).
    + intros m; symmetry; apply partial_step.
    + apply (CV_plus (fun _ => b k)).
      * intros e He; exists 0%nat; intros n _. rewrite R_dist_eq; lra.
      * apply sum_cv. intros j Hj. now apply fixed_cv.
Qed.

End Contraction.

(** ** K λ = g *)

Section System.
Variables (s : nat) (K A : nat -> nat -> R) (beta : R).
Hypothesis beta_range : 0 <= beta < 1.
Hypothesis rows : forall k, (k < s)%nat ->
  sum s (fun j => Rabs (delta k j - sum s (fun m => A k m * K j m))) <= beta.

Theorem solve (g : nat -> R) : exists lambda, forall j, (j < s)%nat ->
  sum s (fun m => K j m * lambda m) = g j.
Proof.
  set (B := fun j k => delta k j - sum s (fun m => A k m * K j m)).
  pose proof (fixed_point s B g beta beta_range rows) as H.
  set (y := fixed s B g beta beta_range rows) in H.
  exists (fun m => sum s (fun k => A k m * y k)). intros j Hj. specialize (H j Hj).
  assert (E : sum s (fun k => B j k * y k)
    = y j - sum s (fun m => K j m * sum s (fun k => A k m * y k))); [|lra].
  rewrite <- (delta_sum s j y Hj).
  rewrite (sum_ext s (fun m => K j m * sum s (fun k => A k m * y k))
             (fun m => sum s (fun k => K j m * (A k m * y k))))
    by (intros; now rewrite sum_scale).
  rewrite sum_swap, <- sum_minus. apply sum_ext; intros k _. unfold B.
  rewrite (sum_ext s (fun m => K j m * (A k m * y k)) (fun m => A k m * K j m * y k))
    by (intros; ring).
  rewrite sum_scale_r. unfold delta. rewrite (Nat.eqb_sym k j). ring.
Qed.

Lemma largest (f : nat -> R) n : (0 < n)%nat ->
  exists k, (k < n)%nat /\ forall j, (j < n)%nat -> f j <= f k.
Proof.
  induction n as [|n IH]; [lia|]. intros _. destruct n as [|n].
  - exists 0%nat; split; [lia|]. intros j Hj; replace j with 0%nat by lia; lra.
  - destruct IH as (k & Hk & H); [lia|].
    destruct (Rle_or_lt (f (S n)) (f k)) as [Hle|Hlt].
    + exists k; split; [lia|]. intros j Hj. destruct (Nat.eq_dec j (S n)) as [->|]; [easy|].
      apply H; lia.
    + exists (S n); split; [lia|]. intros j Hj.
      destruct (Nat.eq_dec j (S n)) as [->|]; [lra|]. specialize (H j ltac:(lia)). lra.
Qed.

Hypothesis symmetric : forall j m, (j < s)%nat -> (m < s)%nat -> K j m = K m j.

(** The error of lambda, by its residual. *)
Theorem error_bound (exact lambda : nat -> R) (r : R) :
  (forall k, (k < s)%nat ->
     Rabs (sum s (fun m => A k m * sum s (fun j => K m j * (exact j - lambda j)))) <= r) ->
  forall k, (k < s)%nat -> (1 - beta) * Rabs (exact k - lambda k) <= r.
Proof.
  intros H k Hk. set (e := fun k => exact k - lambda k) in *.
  destruct (largest (fun k => Rabs (e k)) s) as (j & Hj & Hmax); [lia|].
  assert (E : e j = sum s (fun m => (delta j m - sum s (fun i => A j i * K m i)) * e m)
    + sum s (fun m => A j m * sum s (fun i => K m i * e i))).
  { rewrite (sum_ext s (fun m => (delta j m - sum s (fun i => A j i * K m i)) * e m)
      (fun m => delta j m * e m - sum s (fun i => A j i * K m i) * e m)) by (intros; ring).
    rewrite sum_minus, delta_sum by easy.
    rewrite (sum_ext s (fun m => A j m * sum s (fun i => K m i * e i))
      (fun m => sum s (fun i => A j m * (K m i * e i)))) by (intros; now rewrite sum_scale).
    rewrite (sum_swap s s (fun m i => A j m * (K m i * e i))).
    rewrite (sum_ext s (fun m => sum s (fun i => A j i * K m i) * e m)
      (fun i => sum s (fun m => A j m * (K m i * e i)))); [ring|].
    intros i Hi. rewrite <- sum_scale_r. apply sum_ext; intros m Hm.
    rewrite (symmetric i m Hi Hm). ring. }
  assert (HM : Rabs (e j) <= beta * Rabs (e j) + r).
  { rewrite E at 1. eapply Rle_trans; [apply Rabs_triang|].
    apply Rplus_le_compat; [|apply H, Hj].
    eapply Rle_trans; [apply sum_abs|].
    apply Rle_trans with
      (sum s (fun m => Rabs (delta j m - sum s (fun i => A j i * K m i)) * Rabs (e j))).
    - apply sum_le; intros m Hm. rewrite Rabs_mult.
      apply Rmult_le_compat_l; [apply Rabs_pos|]. now apply Hmax.
    - rewrite sum_scale_r. apply Rmult_le_compat_r; [apply Rabs_pos|]. now apply rows. }
  specialize (Hmax k Hk). cbv beta in Hmax. fold (e k). nra.
Qed.

End System.
