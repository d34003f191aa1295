(** * Rounded arithmetic and the exponential function in integers

    A number z : Z stands for z / 2^p ([fx]). The operations round down or up, as their names say;
    [exp_down] and [exp_up] bound exp (a / b) from (1 - u)^(2^k) <= exp (- 2^k u) <=
    (1 + u)^(- 2^k). *)

From Coq Require Import Bool ZArith Reals Lra Lia.
From AttSVM Require Import AnalysisLimits.
Local Open Scope R_scope.

Section Fixed.
Variables (p k : nat).

Definition one_fx : Z := (2 ^ Z.of_nat p)%Z.
Definition fx (z : Z) : R := IZR z / IZR one_fx.

Lemma one_fx_pos : (0 < one_fx)%Z.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma one_fx_posR : 0 < IZR one_fx.
Proof. apply IZR_lt, one_fx_pos. Qed.

Lemma fx_one : fx one_fx = 1.
Proof. unfold fx. assert (P := one_fx_posR). field. lra. Qed.

Lemma fx_plus : forall a b, fx (a + b) = fx a + fx b.
Proof. intros. unfold fx. rewrite plus_IZR. assert (P := one_fx_posR). field. lra. Qed.

Lemma fx_minus : forall a b, fx (a - b) = fx a - fx b.
Proof. intros. unfold fx. rewrite minus_IZR. assert (P := one_fx_posR). field. lra. Qed.

Lemma fx_le : forall a b, (a <= b)%Z -> fx a <= fx b.
Proof.
  intros a b L. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, one_fx_posR|].
  apply IZR_le, L.
Qed.

Lemma fx_lt : forall a b, (a < b)%Z -> fx a < fx b.
Proof.
  intros a b L. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, one_fx_posR|]. apply IZR_lt, L.
Qed.

Lemma fx_nonneg : forall a, (0 <= a)%Z -> 0 <= fx a.
Proof. intros a L. apply fx_le in L. unfold fx at 1 in L. unfold Rdiv in L. lra. Qed.

Lemma fx_pos : forall a, (0 < a)%Z -> 0 < fx a.
Proof. intros a L. apply fx_lt in L. unfold fx at 1 in L. unfold Rdiv in L. lra. Qed.

(** a / b for integers, b > 0. *)
Definition div_down (a b : Z) : Z := (a * one_fx / b)%Z.
Definition div_up (a b : Z) : Z := (- (- a * one_fx / b))%Z.

Lemma div_down_le : forall a b, (0 < b)%Z -> fx (div_down a b) <= IZR a / IZR b.
Proof.
  intros a b B. assert (P := one_fx_posR). assert (BR : 0 < IZR b) by (apply IZR_lt, B).
  assert (M := Z.mul_div_le (a * one_fx) b B). apply IZR_le in M.
  rewrite !mult_IZR in M. unfold fx, div_down.
  apply Rmult_le_reg_r with (IZR one_fx * IZR b); [apply Rmult_lt_0_compat; lra|].
  replace (IZR (a * one_fx / b) / IZR one_fx * (IZR one_fx * IZR b))
    with (IZR b * IZR (a * one_fx / b)) by (field; lra).
  replace (IZR a / IZR b * (IZR one_fx * IZR b)) with (IZR a * IZR one_fx) by (field; lra).
  exact M.
Qed.

Lemma div_up_ge : forall a b, (0 < b)%Z -> IZR a / IZR b <= fx (div_up a b).
Proof.
  intros a b B. assert (L := div_down_le (- a) b B).
  unfold div_up, fx. unfold div_down, fx in L. rewrite opp_IZR in L |- *.
  unfold Rdiv in *. lra.
Qed.

(** Quotients and products of such numbers. *)
Lemma quotient_down : forall a b, (0 < b)%Z -> fx (div_down a b) <= fx a / fx b.
Proof.
  intros a b B. eapply Rle_trans; [apply div_down_le, B|]. right. unfold fx.
  assert (P := one_fx_posR). assert (BR : 0 < IZR b) by (apply IZR_lt, B). field. split; lra.
Qed.

Lemma quotient_up : forall a b, (0 < b)%Z -> fx a / fx b <= fx (div_up a b).
Proof.
  intros a b B. eapply Rle_trans; [|apply div_up_ge, B]. right. unfold fx.
  assert (P := one_fx_posR). assert (BR : 0 < IZR b) by (apply IZR_lt, B). field. split; lra.
Qed.

Definition mul_down (a b : Z) : Z := Z.shiftr (a * b) (Z.of_nat p).
Definition mul_up (a b : Z) : Z := (- Z.shiftr (- (a * b)) (Z.of_nat p))%Z.

Lemma shift_le : forall a, fx (Z.shiftr a (Z.of_nat p)) <= IZR a / (IZR one_fx * IZR one_fx).
Proof.
  intros a. rewrite Z.shiftr_div_pow2 by lia. fold one_fx. unfold fx.
  assert (P := one_fx_posR). assert (M := Z.mul_div_le a one_fx one_fx_pos).
  apply IZR_le in M. rewrite mult_IZR in M.
  apply Rmult_le_reg_r with (IZR one_fx * IZR one_fx); [apply Rmult_lt_0_compat; lra|].
  replace (IZR (a / one_fx) / IZR one_fx * (IZR one_fx * IZR one_fx))
    with (IZR one_fx * IZR (a / one_fx)) by (field; lra).
  replace (IZR a / (IZR one_fx * IZR one_fx) * (IZR one_fx * IZR one_fx)) with (IZR a) by (field;
    lra).
  exact M.
Qed.

Lemma mul_down_le : forall a b, fx (mul_down a b) <= fx a * fx b.
Proof.
  intros a b. eapply Rle_trans; [apply shift_le|]. right. unfold fx. rewrite mult_IZR.
  assert (P := one_fx_posR). field. lra.
Qed.

Lemma mul_up_ge : forall a b, fx a * fx b <= fx (mul_up a b).
Proof.
  intros a b. assert (L := shift_le (- (a * b))). unfold mul_up.
  assert (P := one_fx_posR).
  assert (N : fx (- Z.shiftr (- (a * b)) (Z.of_nat p)) = - fx (Z.shiftr (- (a * b)) (Z.of_nat p)))
    by (unfold fx; rewrite opp_IZR; field; lra).
  rewrite N. rewrite opp_IZR, mult_IZR in L.
  replace (fx a * fx b) with (- (- (IZR a * IZR b) / (IZR one_fx * IZR one_fx)))
    by (unfold fx; field; lra).
  lra.
Qed.

Lemma mul_down_nonneg : forall a, (0 <= mul_down a a)%Z.
Proof. intros a. apply Z.shiftr_nonneg. nia. Qed.

(** ** The exponential function *)

Fixpoint squares_down (j : nat) (x : Z) : Z :=
  match j with O => x | S j => squares_down j (mul_down x x) end.
Fixpoint squares_up (j : nat) (x : Z) : Z :=
  match j with O => x | S j => squares_up j (mul_up x x) end.

Lemma squares_down_le : forall j x v, (0 <= x)%Z -> fx x <= exp v ->
  (0 <= squares_down j x)%Z /\ fx (squares_down j x) <= exp (v * 2 ^ j).
Proof.
  induction j as [|j IH]; intros x v P L; simpl.
  - rewrite Rmult_1_r. split; assumption.
  - rewrite <- Rmult_assoc. apply IH; [apply mul_down_nonneg|].
    eapply Rle_trans; [apply mul_down_le|].
    replace (v * 2) with (v + v) by ring. rewrite exp_plus.
    assert (X := fx_nonneg x P). apply Rmult_le_compat; assumption.
Qed.

Lemma squares_up_ge : forall j x v, exp v <= fx x -> exp (v * 2 ^ j) <= fx (squares_up j x).
Proof.
  induction j as [|j IH]; intros x v L; simpl.
  - rewrite Rmult_1_r. assumption.
  - rewrite <- Rmult_assoc. apply IH. eapply Rle_trans; [|apply mul_up_ge].
    replace (v * 2) with (v + v) by ring. rewrite exp_plus.
    assert (E := exp_pos v). apply Rmult_le_compat; lra.
Qed.

(** exp (- a / b), a >= 0, b > 0. *)
Definition steps : Z := (2 ^ Z.of_nat k)%Z.

Definition decay_down (a b : Z) : Z :=
  squares_down k (Z.max 0 (one_fx - div_up a (b * steps)))%Z.
Definition decay_up (a b : Z) : Z := squares_up k (div_up (b * steps) (b * steps + a)).

Lemma steps_pos : (0 < steps)%Z.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma steps_real : IZR steps = 2 ^ k.
Proof. unfold steps. rewrite <- pow_IZR. reflexivity. Qed.

Lemma decay_down_le : forall a b, (0 < b)%Z ->
  (0 <= decay_down a b)%Z /\ fx (decay_down a b) <= exp (- (IZR a / IZR b)).
Proof.
  intros a b B. set (u := IZR a / IZR (b * steps)).
  assert (BS : (0 < b * steps)%Z) by (apply Z.mul_pos_pos; [exact B|apply steps_pos]).
  assert (E : - (IZR a / IZR b) = - u * 2 ^ k).
  { unfold u. rewrite mult_IZR, <- steps_real. assert (IZR b <> 0) by (apply not_0_IZR; lia).
    assert (S := steps_pos). assert (IZR steps <> 0) by (apply not_0_IZR; lia). field.
    split; assumption. }
  rewrite E. apply squares_down_le; [lia|].
  destruct (Z.max_spec 0 (one_fx - div_up a (b * steps))) as [[_ ->]|[_ ->]].
  - rewrite fx_minus, fx_one. assert (D := div_up_ge a (b * steps) BS). fold u in D.
    assert (X := exp_ineq1_le (- u)). lra.
  - unfold fx, Rdiv. rewrite Rmult_0_l. apply Rlt_le, exp_pos.
Qed.

Lemma decay_up_ge : forall a b, (0 <= a)%Z -> (0 < b)%Z -> exp (- (IZR a / IZR b))
  <= fx (decay_up a b).
Proof.
  intros a b A B. set (u := IZR a / IZR (b * steps)).
  assert (BS : (0 < b * steps)%Z) by (apply Z.mul_pos_pos; [exact B|apply steps_pos]).
  assert (BSR : 0 < IZR (b * steps)) by (apply IZR_lt, BS).
  assert (AR : 0 <= IZR a) by (apply IZR_le, A).
  assert (E : - (IZR a / IZR b) = - u * 2 ^ k).
  { unfold u. rewrite mult_IZR, <- steps_real. assert (IZR b <> 0) by (apply not_0_IZR; lia).
    assert (S := steps_pos). assert (IZR steps <> 0) by (apply not_0_IZR; lia). field.
    split; assumption. }
  rewrite E. apply squares_up_ge. eapply Rle_trans; [|apply div_up_ge; lia].
  rewrite plus_IZR, exp_Ropp. assert (X := exp_ineq1_le u).
  assert (U : 0 <= u) by (apply Rmult_le_pos; [exact AR|apply Rlt_le, Rinv_0_lt_compat, BSR]).
  replace (IZR (b * steps) / (IZR (b * steps) + IZR a)) with (/ (1 + u))
    by (unfold u; field; split; lra).
  apply Rinv_le_contravar; lra.
Qed.

(** exp (a / b), b > 0. The upper bound is one if [exp_fine], which fails for large a / b only. *)
Definition exp_down (a b : Z) : Z :=
  if (a <=? 0)%Z then decay_down (- a) b else div_down one_fx (decay_up a b).
Definition exp_up (a b : Z) : Z :=
  if (a <=? 0)%Z then decay_up (- a) b else div_up one_fx (decay_down a b).
Definition exp_fine (a b : Z) : bool := (a <=? 0)%Z || (0 <? decay_down a b)%Z.

Lemma fx_pos_inv : forall z, 0 < fx z -> (0 < z)%Z.
Proof.
  intros z P. apply lt_IZR. apply Rmult_lt_reg_r with (/ IZR one_fx);
    [apply Rinv_0_lt_compat, one_fx_posR|]. rewrite Rmult_0_l. exact P.
Qed.

Lemma exp_down_le : forall a b, (0 < b)%Z ->
  (0 <= exp_down a b)%Z /\ fx (exp_down a b) <= exp (IZR a / IZR b).
Proof.
  intros a b B. unfold exp_down. destruct (Z.leb_spec a 0) as [A|A].
  - destruct (decay_down_le (- a) b B) as [P L]. split; [exact P|].
    rewrite opp_IZR in L. replace (IZR a / IZR b) with (- (- IZR a / IZR b)); [exact L|].
    unfold Rdiv. ring.
  - assert (U := decay_up_ge a b ltac:(lia) B). assert (E := exp_pos (- (IZR a / IZR b))).
    assert (P := fx_pos_inv (decay_up a b) ltac:(lra)). split.
    + apply Z.div_pos; [|exact P]. assert (O := one_fx_pos). nia.
    + eapply Rle_trans; [apply quotient_down, P|]. rewrite fx_one.
      replace (exp (IZR a / IZR b)) with (/ exp (- (IZR a / IZR b)))
        by (rewrite exp_Ropp, Rinv_inv; reflexivity).
      unfold Rdiv at 1. rewrite Rmult_1_l. apply Rinv_le_contravar; assumption.
Qed.

Lemma exp_up_ge : forall a b, (0 < b)%Z -> exp_fine a b = true -> exp (IZR a / IZR b)
  <= fx (exp_up a b).
Proof.
  intros a b B F. unfold exp_up. unfold exp_fine in F. destruct (Z.leb_spec a 0) as [A|A].
  - assert (L := decay_up_ge (- a) b ltac:(lia) B). rewrite opp_IZR in L.
    replace (IZR a / IZR b) with (- (- IZR a / IZR b)); [exact L|]. unfold Rdiv. ring.
  - simpl in F. apply Z.ltb_lt in F. destruct (decay_down_le a b B) as [_ L].
    eapply Rle_trans; [|apply quotient_up, F]. rewrite fx_one.
    replace (exp (IZR a / IZR b)) with (/ exp (- (IZR a / IZR b)))
      by (rewrite exp_Ropp, Rinv_inv; reflexivity).
    unfold Rdiv at 2. rewrite Rmult_1_l. apply Rinv_le_contravar; [apply fx_pos, F|exact L].
Qed.

End Fixed.
