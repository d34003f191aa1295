(** A closed convex set of matrices that is not empty has a matrix of least norm, and only one.

    The minimiser is found entry by entry, as a least upper bound; no choice is made. *)

From Coq Require Import Arith Bool Lia List Reals Lra Psatz.
From AttSVM Require Import Dataset Statements Sums Integers Margins.
Local Open Scope R_scope.

Lemma le_limit a b K : (forall e, 0 < e <= 1 -> a <= b + e * K) -> a <= b.
Proof.
  intros H. destruct (Rle_or_lt a b) as [|Hlt]; [easy|exfalso].
  set (k := Rmax K 1). assert (1 <= k) by apply Rmax_r. assert (K <= k) by apply Rmax_l.
  set (e := Rmin 1 ((a - b) / (2 * k))).
  assert (0 < (a - b) / (2 * k)) by (apply Rdiv_lt_0_compat; lra).
  assert (He : 0 < e <= 1).
  { split; [now apply Rmin_pos; [lra|]|apply Rmin_l]. }
  assert (e * k <= (a - b) / 2).
  { apply Rle_trans with ((a - b) / (2 * k) * k).
    - apply Rmult_le_compat_r; [lra|apply Rmin_r].
    - right; field; lra. }
  specialize (H e He). nra.
Qed.

Lemma square_bound y e : 0 <= e -> y * y <= e * e -> Rabs y <= e.
Proof. intros He H. apply Rabs_le; split; nra. Qed.

Lemma abs_between y e : Rabs y <= e -> - e <= y <= e.
Proof. unfold Rabs; destruct (Rcase_abs y); lra. Qed.

Section Minimum.
Variables (d : nat) (P : matrix -> Prop).
Hypothesis middle : forall V W, P V -> P W -> P (fun a b => / 2 * (V a b + W a b)).
Hypothesis closed : forall W,
  (forall e, 0 < e <= 1 -> ~ ~ exists V, P V /\
     forall a b, (a < d)%nat -> (b < d)%nat -> Rabs (V a b - W a b) <= e) -> P W.
Variable start : matrix.
Hypothesis start_P : P start.

Lemma lower_bounds : { m | is_lub (fun y => forall W, P W -> y <= norm2 d W) m }.
Proof.
  apply completeness.
  - exists (norm2 d start). intros y Hy. exact (Hy start start_P).
  - exists 0. intros W HW; apply norm2_nonneg.
Qed.

Definition least : R := proj1_sig lower_bounds.

Lemma least_le W : P W -> least <= norm2 d W.
Proof.
  intros HW. unfold least; destruct lower_bounds as [m [Hu Hm]]; simpl.
  apply Hm. intros y Hy; now apply Hy.
Qed.

Lemma least_nonneg : 0 <= least.
Proof.
  unfold least; destruct lower_bounds as [m [Hm Hl]]; simpl.
  apply Hm. intros W HW; apply norm2_nonneg.
Qed.

(** The matrices of norm near the infimum. *)
Definition near (e : R) (W : matrix) : Prop := P W /\ norm2 d W <= least + e * e.

Lemma near_exists e : 0 < e -> ~ ~ exists W, near e W.
Proof.
  intros He H. assert (Hle : least + e * e <= least); [|nra].
  unfold least at 2; destruct lower_bounds as [m [Hm Hl]]; simpl. apply Hm.
  intros W HW. destruct (Rle_or_lt (least + e * e) (norm2 d W)) as [|Hlt]; [easy|].
  exfalso; apply H. exists W; split; [easy|lra].
Qed.

Lemma le_near e : 0 < e -> forall x y : R, (forall W, near e W -> x <= y) -> x <= y.
Proof.
  intros He x y H. destruct (Rle_or_lt x y) as [|Hlt]; [easy|].
  exfalso; apply (near_exists e He). intros (W & HW). specialize (H W HW). lra.
Qed.

Lemma near_mono e f W : 0 <= e <= f -> near e W -> near f W.
Proof. intros H [HP Hn]; split; [easy|nra]. Qed.

(** Twice the squared norms, less four times that of the middle. *)
Lemma parallelogram V W : distance2 d V W
  = 2 * norm2 d V + 2 * norm2 d W - 4 * norm2 d (fun a b => / 2 * (V a b + W a b)).
Proof.
  set (S := fun a b => V a b + W a b).
  assert (E : forall B, inner d S B = inner d V B + inner d W B) by (intros; apply inner_plus).
  change (fun a b => / 2 * (V a b + W a b)) with (fun a b => / 2 * S a b).
  rewrite distance2_expand, (norm2_inner d (fun a b => / 2 * S a b)), inner_scale.
  rewrite (inner_comm d S), inner_scale, E, (inner_comm d V S), (inner_comm d W S), !E.
  rewrite (inner_comm d W V), !norm2_inner. field.
Qed.

Lemma near_close e V W a b : 0 < e -> near e V -> near e W -> (a < d)%nat -> (b < d)%nat ->
  Rabs (V a b - W a b) <= 2 * e.
Proof.
  intros He [HV NV] [HW NW] Ha Hb.
  pose proof (least_le _ (middle V W HV HW)) as Hm.
  pose proof (norm2_entry d (fun a b => V a b - W a b) a b Ha Hb) as Hen; simpl in Hen.
  fold (distance2 d V W) in Hen. rewrite parallelogram in Hen.
  apply square_bound; lra.
Qed.

Lemma near_bounded e W a b : 0 < e <= 1 -> near e W -> (a < d)%nat -> (b < d)%nat ->
  Rabs (W a b) <= least + 2.
Proof.
  intros He [_ NW] Ha Hb. pose proof (norm2_entry d W a b Ha Hb).
  pose proof least_nonneg. apply square_bound; nra.
Qed.

(** Entry a, b of the minimiser: the numbers below that of all matrices near enough. *)
Definition under (a b : nat) (y : R) : Prop :=
  exists e, 0 < e <= 1 /\ forall W, near e W -> y <= W a b.

Lemma entries a b : (a < d)%nat -> (b < d)%nat -> { w | is_lub (under a b) w }.
Proof.
  intros Ha Hb. apply completeness.
  - exists (least + 2). intros y (e & He & H). apply (le_near e); [easy|].
    intros W HW. specialize (H W HW).
    pose proof (near_bounded e W a b He HW Ha Hb) as HB.
    pose proof (Rle_abs (W a b)). lra.
  - exists (- (least + 2)), 1. split; [lra|]. intros W HW.
    assert (H1 : 0 < 1 <= 1) by lra.
    pose proof (near_bounded 1 W a b H1 HW Ha Hb) as HB.
    pose proof (Rle_abs (- W a b)) as HA. rewrite Rabs_Ropp in HA. lra.
Qed.

Definition minimiser : matrix := fun a b =>
  match lt_dec a d, lt_dec b d with
  | left Ha, left Hb => proj1_sig (entries a b Ha Hb)
  | _, _ => 0
  end.

Lemma minimiser_close e W a b : 0 < e <= 1 -> near e W -> (a < d)%nat -> (b < d)%nat ->
  Rabs (W a b - minimiser a b) <= 2 * e.
Proof.
  intros He HW Ha Hb. unfold minimiser.
  destruct (lt_dec a d) as [Ha'|]; [|easy]. destruct (lt_dec b d) as [Hb'|]; [|easy].
  destruct (entries a b Ha' Hb') as [w [Hu Hl]]; simpl.
  assert (W a b - 2 * e <= w).
  { apply Hu. exists e; split; [easy|]. intros V HV.
    pose proof (near_close e V W a b (proj1 He) HV HW Ha Hb) as H.
    pose proof (Rle_abs (- (V a b - W a b))) as HA. rewrite Rabs_Ropp in HA. lra. }
  assert (w <= W a b + 2 * e).
  { apply Hl. intros y (f & Hf & Hy). apply (le_near (Rmin e f)); [now apply Rmin_pos|].
    intros V HV. assert (0 < Rmin e f) by now apply Rmin_pos.
    assert (HVe : near e V) by (apply (near_mono (Rmin e f)); [split; [lra|apply Rmin_l]|easy]).
    assert (HVf : near f V) by (apply (near_mono (Rmin e f)); [split; [lra|apply Rmin_r]|easy]).
    specialize (Hy V HVf). pose proof (near_close e V W a b (proj1 He) HVe HW Ha Hb) as H2.
    pose proof (Rle_abs (V a b - W a b)). lra. }
  apply Rabs_le; lra.
Qed.

Lemma minimiser_P : P minimiser.
Proof.
  apply closed. intros e He H. apply (near_exists (e / 2)); [lra|].
  intros (W & HW). apply H. exists W; split; [apply HW|]. intros a b Ha Hb.
  pose proof (minimiser_close (e / 2) W a b) as Hc. replace (2 * (e / 2)) with e in Hc by field.
  apply Hc; auto; lra.
Qed.

Lemma minimiser_norm : norm2 d minimiser <= least.
Proof.
  apply (le_limit _ _ (1 + INR d * (INR d * (4 * (least + 2) + 4)))). intros e He.
  apply (le_near e); [easy|]. intros W HW.
  pose proof (proj2 HW) as NW.
  assert (HC : forall c n, sum n (fun _ => c) = INR n * c).
  { intros c n; induction n as [|n IH]; [simpl; lra|].
    rewrite S_INR; simpl sum; rewrite IH; ring. }
  assert (norm2 d minimiser <= norm2 d W + e * (INR d * (INR d * (4 * (least + 2) + 4)))); [|nra].
  assert (E : norm2 d W + e * (INR d * (INR d * (4 * (least + 2) + 4)))
    = sum d (fun a => sum d (fun b => W a b * W a b + e * (4 * (least + 2) + 4)))).
  { unfold norm2.
    rewrite (sum_ext d (fun a => sum d (fun b => W a b * W a b + e * (4 * (least + 2) + 4)))
      (fun a => sum d (fun b => W a b * W a b) + INR d * (e * (4 * (least + 2) + 4)))).
    - rewrite sum_plus, HC. ring.
    - intros a _. now rewrite sum_plus, HC. }
  rewrite E. apply sum_le; intros a Ha; apply sum_le; intros b Hb.
  pose proof (minimiser_close e W a b He HW Ha Hb) as H1.
  pose proof (near_bounded e W a b He HW Ha Hb) as H2.
  apply abs_between in H1, H2.
  set (s := W a b) in *. set (w := minimiser a b) in *. set (u := s - w) in *.
  replace w with (s - u) by (unfold u; ring).
  assert (- (2 * s * u) <= 2 * ((least + 2) * (2 * e))).
  { pose proof least_nonneg.
    assert (Hsu : Rabs (s * u) <= (least + 2) * (2 * e)).
    { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; apply Rabs_le; lra. }
    apply abs_between in Hsu. lra. }
  assert (u * u <= 4 * e) by nra. nra.
Qed.

Theorem minimum_exists : exists W, P W /\ forall V, P V ->
  norm2 d W <= norm2 d V /\
  (norm2 d V <= norm2 d W -> forall a b, (a < d)%nat -> (b < d)%nat -> V a b = W a b).
Proof.
  exists minimiser. split; [apply minimiser_P|]. intros V HV.
  pose proof minimiser_norm. pose proof (least_le V HV). split; [lra|].
  intros Hle. apply distance2_zero.
  pose proof (least_le _ (middle V minimiser HV minimiser_P)).
  rewrite parallelogram. lra.
Qed.

End Minimum.

(** ** Att-SVM *)

Theorem solution_exists D alpha : feasible D alpha -> solvable D alpha.
Proof.
  intros (W0 & H0). unfold solvable, optimum.
  apply (minimum_exists (dim D) (separates D alpha)) with (start := W0); [| |easy].
  - intros V W HV HW i t Hr. specialize (HV i t Hr); specialize (HW i t Hr).
    rewrite !margin_inner in *. rewrite inner_comm, inner_scale, inner_plus.
    rewrite !(inner_comm _ _ (phi D alpha i t)). lra.
  - intros W H i t Hr.
    set (K := sum (dim D) (fun a => sum (dim D) (fun b => Rabs (phi D alpha i t a b)))).
    apply (le_limit _ _ K). intros e He.
    destruct (Rle_or_lt 1 (margin D alpha W i t + e * K)) as [|Hlt]; [easy|exfalso].
    apply (H e He). intros (V & HV & HVW). specialize (HV i t Hr).
    assert (margin D alpha V i t - margin D alpha W i t <= e * K); [|lra].
    rewrite !margin_inner, !(inner_comm _ (phi D alpha i t)), <- inner_minus.
    unfold inner, K. rewrite <- sum_scale. apply sum_le; intros a Ha.
    rewrite <- sum_scale. apply sum_le; intros b Hb.
    eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult.
    apply Rmult_le_compat_r; [apply Rabs_pos|]. now apply HVW.
Qed.

Lemma optimum_unique D alpha V W : optimum D alpha V -> optimum D alpha W ->
  forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b.
Proof. intros [HV OV] [HW OW]. apply (proj2 (OW V HV)). apply OV, HW. Qed.
