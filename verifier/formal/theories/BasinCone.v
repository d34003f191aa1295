(** * The pull inside a cone

    Statement: under the conditions of BasinConditions.v, at every W of the cone, with w_it the
    weights of the rows, a_it the margins of M, phi_it^perp the part of a feature across M and
    Q > 0 the sum of w_it over the worse rows,

        sum w_it a_it >= Q (1 - eps_a),    sum w_it <phi_it^perp, W^perp> <= Q (E + s tau eps_v),
        sum |w_it| |phi_it^perp| <= Q (v + eps_v),    Q >= Z exp(- clock of W).

    Source: docs/theory/basin.md, Lemma 1 (a)-(c); arXiv 2308.16898 v1, Theorem 7. *)

From Coq Require Import Arith Reals Lra Lia Psatz.
From AttSVM Require Import Dataset Statements Sums Margins Loss Analysis AnalysisLimits LossFacts
  LossRows BasinConditions.
Local Open Scope R_scope.

Section Cone.
Variables (D : dataset) (alpha : selection) (c : cone).

Notation d := (dim D).
Notation M := (solution c).
Notation lambda := (multiplier c).
Notation s := (start c).
Notation tau := (aperture c).
Notation Rows := (rows D alpha).
Notation clock := (clock D c).
Notation across := (across D c).
Notation a_ := (a_ D alpha c).
Notation v_ := (v_ D alpha c).
Notation low := (low D alpha c).
Notation reach := (reach D alpha c).
Notation floor := (floor D alpha c).
Notation c_high := (c_high D alpha c).
Notation c_low := (c_low D alpha c).
Notation force := (force D alpha c).
Notation share := (share D c).
Notation log_Z := (log_Z D alpha c).
Notation Z := (Z D alpha c).
Notation on_worse := (on_worse D alpha c).
Notation on_rivals := (on_rivals D alpha c).
Notation lead := (lead D alpha c).
Notation A_ := (A_ D alpha c).
Notation eps_a := (eps_a D alpha c).
Notation eps_v := (eps_v D alpha c).
Notation in_cone := (in_cone D c).
Notation kkt := (kkt D alpha c).
Notation cone_conditions := (cone_conditions D alpha c).

(** ** Geometry *)

Section Proof.
Variables (l dl : R -> R).
Hypothesis decreasing : decreasing_loss l dl.
Hypothesis formed : well_formed D = true.
Hypothesis chosen : selects D alpha = true.
Hypothesis H : cone_conditions dl.

Let n2_pos : 0 < norm2 d M := cone_solution D alpha c dl H.

Lemma across_orthogonal : forall W, inner d (across W) M = 0.
Proof.
  intros W. unfold BasinConditions.across. rewrite inner_minus, inner_scale. fold (norm2 d M).
  unfold BasinConditions.clock. rewrite <- norm2_inner. field. lra.
Qed.

Lemma inner_split : forall V W,
  inner d V W = clock V * clock W * norm2 d M + inner d (across V) (across W).
Proof.
  intros V W.
  assert (E : inner d (across V) (across W) = inner d V W - clock V * inner d M W).
  { rewrite (inner_comm d _ (across W)). unfold BasinConditions.across at 1.
    rewrite inner_minus, inner_scale.
    rewrite (inner_comm d M (across V)), across_orthogonal.
    rewrite (inner_comm d W (across V)). unfold BasinConditions.across.
    rewrite inner_minus, inner_scale. ring. }
  rewrite E, (inner_comm d M W). unfold BasinConditions.clock. field. lra.
Qed.

Lemma norm2_split : forall W,
  norm2 d W = clock W * clock W * norm2 d M + norm2 d (across W).
Proof. intros W. rewrite !norm2_inner. rewrite inner_split at 1. rewrite norm2_inner. reflexivity.
Qed.

Lemma clock_phi : forall i t, clock (phi D alpha i t) * norm2 d M = a_ i t.
Proof. intros i t. unfold BasinConditions.clock, BasinConditions.a_. rewrite margin_inner. field.
lra. Qed.

Lemma margin_across : forall W i t,
  margin D alpha W i t
  = clock W * a_ i t + inner d (across (phi D alpha i t)) (across W).
Proof.
  intros W i t. rewrite margin_inner, inner_split, <- clock_phi. ring.
Qed.

Lemma v_nonneg : forall i t, 0 <= v_ i t.
Proof. intros. apply norm_nonneg. Qed.

(** The multipliers have mean margin = clock. *)
Lemma shares_margin : forall W, Rows (fun i t => share i t * margin D alpha W i t) = clock W.
Proof.
  intros W. destruct (cone_kkt D alpha c dl H) as [E _].
  assert (I : inner d W M = Rows (fun i t => lambda i t * margin D alpha W i t)).
  { rewrite inner_comm.
    rewrite (inner_ext d M W (fun p q => Rows (fun i t => lambda i t * phi D alpha i t p q)) W)
      by auto.
    unfold rows, others. rewrite (inner_sum d _ (fun i p q => sum (count D i) (fun t =>
      if t =? selected alpha i then 0 else lambda i t * phi D alpha i t p q))).
    apply sum_ext. intros i _.
    rewrite (inner_sum d _ (fun t p q =>
      if t =? selected alpha i then 0 else lambda i t * phi D alpha i t p q)).
    apply sum_ext. intros t _. destruct (t =? selected alpha i).
    - unfold inner. apply sum_zero. intros. apply sum_zero. intros. ring.
    - rewrite inner_scale, margin_inner. reflexivity. }
  unfold BasinConditions.clock. rewrite I. unfold BasinConditions.share, Rdiv.
  rewrite (Rmult_comm _ (/ _)), <- rows_scale.
  apply rows_ext. intros. ring.
Qed.

Lemma shares_sum : Rows share = 1.
Proof.
  destruct (cone_kkt D alpha c dl H) as [_ K].
  rewrite (rows_ext D alpha _ (fun i t => share i t * margin D alpha M i t)).
  - rewrite shares_margin. unfold BasinConditions.clock. rewrite <- norm2_inner. field. lra.
  - intros i t R. destruct (K i t R) as (_ & _ & E). fold (a_ i t).
    unfold BasinConditions.share. replace (lambda i t / norm2 d M * a_ i t)
      with (lambda i t / norm2 d M + lambda i t * (a_ i t - 1) / norm2 d M) by (field; lra).
    rewrite E. field. lra.
Qed.

(** ** A point of the cone *)

Section Point.
Variable W : matrix.
Hypothesis inside : in_cone W.

Let s' : R := clock W.
Let m (i t : nat) : R := margin D alpha W i t.
Let w (i t : nat) : R := pull dl D alpha W i t.
Let side (i t : nat) : R := inner d (across (phi D alpha i t)) (across W).
Let Q : R := on_worse w.

Lemma clock_pos : 0 < s'.
Proof. assert (S := cone_start D alpha c dl H). destruct inside as [C _]. unfold s'. lra. Qed.

Lemma side_le : forall i t, Rabs (side i t) <= v_ i t * (tau * s').
Proof.
  intros i t. eapply Rle_trans; [apply inner_norm|]. fold (v_ i t).
  apply Rmult_le_compat_l; [apply v_nonneg|]. apply inside.
Qed.

Lemma margin_low : forall i t, s' * (a_ i t - tau * v_ i t) <= m i t.
Proof.
  intros i t. unfold m. rewrite margin_across. fold s' (side i t).
  assert (B := side_le i t). apply abs_le in B. lra.
Qed.

Lemma low_le : forall i t, rejected D alpha i t -> low i t <= m i t.
Proof.
  intros i t R. apply Rle_trans with (2 := margin_low i t). unfold BasinConditions.low.
  apply Rmult_le_compat_r; [apply Rlt_le, (cone_i D alpha c dl H), R|]. apply inside.
Qed.

(** The weights, relative to exp(-m). *)
Lemma weights : forall i t, rejected D alpha i t ->
  Rabs (w i t) <= force i t * exp (- m i t) /\
  (worse c i t = true ->
   c_low i t * exp (- m i t) <= w i t <= c_high i t * exp (- m i t) /\ 0 < c_low i t).
Proof.
  intros i t R. destruct R as (I & T & N).
  assert (R : rejected D alpha i t) by (repeat split; auto).
  destruct (selects_spec D alpha chosen) as [_ Sa]. specialize (Sa i I).
  set (a := selected alpha i) in *.
  assert (B : forall u, (u < count D i)%nat -> u <> a ->
              low i u <= logit D W i a - logit D W i u).
  { intros u U Nu. unfold a. rewrite <- margin_logit. apply low_le. repeat split; auto. }
  assert (Dr : Rabs (drop D alpha W i) <= reach i)
    by exact (drop_le (count D i) a (logit D W i) (score D i) Sa (low i) B).
  assert (Fl : 0 < floor i <= weight D W i a)
    by exact (floor_le (count D i) a (logit D W i) Sa (low i) B).
  assert (Se : 0 < weight D W i a <= 1)
    by exact (softmax_selected_le (count D i) a (logit D W i) Sa).
  assert (St : weight D W i t = weight D W i a * exp (- m i t)).
  { unfold m. rewrite margin_logit. apply (softmax_margin (count D i) a (logit D W i)). }
  destruct (cone_slopes_bounded D alpha c dl H i (output D W i) I Dr) as [[Gl Gm] Gh].
  assert (Ex := exp_pos (- m i t)). assert (Dp := Rabs_pos (drop D alpha W i)).
  assert (Db : - reach i <= drop D alpha W i <= reach i) by (apply abs_le; exact Dr).
  unfold w, pull, BasinConditions.force, BasinConditions.c_low, BasinConditions.c_high. rewrite St.
  set (g := - dl (output D W i)) in *. set (sa := weight D W i a) in *.
  set (x := exp (- m i t)) in *. set (de := gap D alpha i t). set (mu := drop D alpha W i) in *.
  assert (K : 0 < g * sa <= slope_high c i) by (split; [apply Rmult_lt_0_compat|]; nra).
  split.
  - replace (g * (sa * x * (de - mu))) with (g * sa * x * (de - mu)) by ring.
    rewrite Rabs_mult, (Rabs_right (g * sa * x)) by (apply Rle_ge, Rlt_le, Rmult_lt_0_compat; lra).
    assert (Ab : Rabs (de - mu) <= Rabs de + reach i).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
    replace (slope_high c i * (Rabs de + reach i) * x)
      with (slope_high c i * x * (Rabs de + reach i))
      by ring.
    apply Rmult_le_compat; [|apply Rabs_pos| |exact Ab].
    + apply Rmult_le_pos; lra.
    + apply Rmult_le_compat_r; lra.
  - intros Wo. assert (Gp := cone_iii D alpha c dl H i t R Wo). fold de in Gp.
    assert (Lo : 0 < slope_low c i * floor i <= g * sa).
    { split; [apply Rmult_lt_0_compat; lra|]. apply Rmult_le_compat; lra. }
    split; [split|].
    + replace (g * (sa * x * (de - mu))) with (g * sa * (de - mu) * x) by ring.
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
    + replace (g * (sa * x * (de - mu))) with (g * sa * (de - mu) * x) by ring.
      apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; lra.
    + apply Rmult_lt_0_compat; lra.
Qed.

Lemma worse_pos : forall i t, rejected D alpha i t -> worse c i t = true -> 0 < w i t.
Proof.
  intros i t R Wo. destruct (weights i t R) as [_ B]. destruct (B Wo) as [[B1 _] B2].
  assert (0 < c_low i t * exp (- m i t)) by (apply Rmult_lt_0_compat; [exact B2|apply exp_pos]).
  lra.
Qed.

Lemma Z_pos : 0 < Z.
Proof. apply exp_pos. Qed.

(** The worse rows pull at least Z exp(- clock), by the tangents of exp. *)
Lemma pull_low : Z * exp (- s') <= Q.
Proof.
  assert (ZP := Z_pos).
  assert (T : Rows (fun i t => Z * exp (- s') * (share i t * (1 - log_Z + s')
      + share i t * ln (c_low i t / share i t) - share i t * m i t)) <= Q).
  { apply rows_le. intros i t R. destruct (cone_kkt D alpha c dl H) as [_ K].
    destruct (K i t R) as (_ & L & _).
    assert (Sh : 0 <= share i t) by (apply Rmult_le_pos;
      [exact L|apply Rlt_le, Rinv_0_lt_compat, n2_pos]).
    destruct (worse c i t) eqn:Wo.
    2:{ unfold BasinConditions.share. rewrite (cone_support D alpha c dl H i t R Wo). unfold Rdiv.
    rewrite !Rmult_0_l.
        rewrite Rplus_0_l, Rminus_0_r, Rmult_0_r. lra. }
    destruct Sh as [Sh|Sh]; [|rewrite <- Sh, !Rmult_0_l, Rplus_0_l, Rminus_0_r, Rmult_0_r;
                              apply Rlt_le, worse_pos; assumption].
    destruct (weights i t R) as [_ B]. destruct (B Wo) as [[B1 _] B2].
    apply Rle_trans with (2 := B1).
    set (x := ln (c_low i t / share i t) - m i t + s' - log_Z).
    assert (E : c_low i t * exp (- m i t) = Z * exp (- s') * share i t * exp x).
    { unfold x, BasinConditions.Z. replace (ln (c_low i t / share i t) - m i t + s' - log_Z)
        with (ln (c_low i t / share i t) + (- m i t + s' + - log_Z)) by ring.
      rewrite exp_plus, exp_ln by (apply Rdiv_lt_0_compat; assumption).
      rewrite !exp_plus, !exp_Ropp.
      assert (P1 := exp_pos log_Z). assert (P2 := exp_pos s'). assert (P3 := exp_pos (m i t)).
      field. repeat split; lra. }
    rewrite E. assert (X := exp_ineq1_le x).
    assert (P : 0 < Z * exp (- s') * share i t)
      by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [lra|apply exp_pos]|lra]).
    replace (Z * exp (- s') * (share i t * (1 - log_Z + s') +
        share i t * ln (c_low i t / share i t) - share i t * m i t))
      with (Z * exp (- s') * share i t * (1 + x)) by (unfold x; ring).
    apply Rmult_le_compat_l; lra. }
  rewrite rows_scale, rows_minus, rows_plus in T.
  rewrite (rows_ext D alpha (fun i t => share i t * (1 - log_Z + s'))
                    (fun i t => (1 - log_Z + s') * share i t)) in T by (intros; ring).
  rewrite rows_scale, shares_sum in T.
  change (Rows (fun i t => share i t * m i t)) with
    (Rows (fun i t => share i t * margin D alpha W i t)) in T.
  rewrite shares_margin in T. fold log_Z s' in T.
  eapply Rle_trans; [|exact T]. right. ring.
Qed.

Lemma pull_pos : 0 < Q.
Proof.
  apply Rlt_le_trans with (2 := pull_low). apply Rmult_lt_0_compat; [apply Z_pos|apply exp_pos].
Qed.

(** A rival pulls little, even when its pull is multiplied by the clock. *)
Lemma force_nonneg : forall i t, rejected D alpha i t -> 0 <= force i t.
Proof.
  intros i t R. destruct (weights i t R) as [B _].
  assert (P := Rabs_pos (w i t)). assert (E := exp_pos (- m i t)).
  apply Rmult_le_reg_r with (exp (- m i t)); lra.
Qed.

Lemma decay : forall x y z, 0 < x -> x <= y -> 1 <= x * z -> y * exp (- (y * z))
  <= x * exp (- (x * z)).
Proof.
  intros x y z X L P.
  assert (E : exp (- (x * z)) = exp (- (y * z)) * exp ((y - x) * z))
    by (rewrite <- exp_plus; f_equal; ring).
  rewrite E. assert (I := exp_ineq1_le ((y - x) * z)). assert (Q' := exp_pos (- (y * z))).
  assert (K : y <= x * (1 + (y - x) * z)) by nra.
  assert (K' : x * (1 + (y - x) * z) <= x * exp ((y - x) * z)) by (apply Rmult_le_compat_l; lra).
  replace (x * (exp (- (y * z)) * exp ((y - x) * z))) with (x * exp ((y - x) * z) * exp (- (y * z)))
    by ring.
  apply Rmult_le_compat_r; lra.
Qed.

Lemma rival_pull : forall i t, rejected D alpha i t -> worse c i t = false ->
  Rabs (w i t) <= Q * A_ i t /\ s' * Rabs (w i t) <= Q * (s * A_ i t).
Proof.
  intros i t R Ri. destruct (weights i t R) as [B _].
  assert (F := force_nonneg i t R). assert (S := cone_start D alpha c dl H).
  destruct inside as [L _]. fold s' in L.
  assert (P := cone_ii D alpha c dl H i t R Ri). assert (PL := pull_low). assert (ZP := Z_pos).
  assert (Es := exp_pos (- s')).
  assert (Lp : 0 < lead i t) by nra.
  assert (Em : exp (- m i t) <= exp (- (s' * lead i t)) * exp (- s')).
  { rewrite <- exp_plus. apply exp_le. assert (ML := margin_low i t). unfold BasinConditions.lead.
    lra. }
  assert (Ed : exp (- (s' * lead i t)) <= exp (- (s * lead i t))) by (apply exp_le; nra).
  assert (Dy := decay s s' (lead i t) S L (Rlt_le _ _ P)).
  assert (W1 : Rabs (w i t) <= force i t * exp (- (s' * lead i t)) * exp (- s')).
  { eapply Rle_trans; [exact B|]. rewrite Rmult_assoc. apply Rmult_le_compat_l; assumption. }
  assert (ZA : Z * A_ i t = force i t * exp (- (s * lead i t))) by (unfold BasinConditions.A_;
    field; lra).
  assert (AP : 0 <= A_ i t).
  { unfold BasinConditions.A_. apply Rmult_le_pos; [apply Rmult_le_pos;
      [exact F|apply Rlt_le, exp_pos]|].
    apply Rlt_le, Rinv_0_lt_compat, ZP. }
  assert (QA : Z * A_ i t * exp (- s') <= Q * A_ i t).
  { replace (Z * A_ i t * exp (- s')) with (Z * exp (- s') * A_ i t) by ring.
    apply Rmult_le_compat_r; assumption. }
  split.
  - eapply Rle_trans; [exact W1|]. eapply Rle_trans; [|exact QA]. rewrite ZA.
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; assumption.
  - apply Rle_trans with (s * (Z * A_ i t * exp (- s'))).
    2:{ replace (Q * (s * A_ i t)) with (s * (Q * A_ i t)) by ring.
        apply Rmult_le_compat_l; [lra|exact QA]. }
    rewrite ZA.
    apply Rle_trans with (s' * (force i t * exp (- (s' * lead i t)) * exp (- s'))).
    { apply Rmult_le_compat_l; [apply Rlt_le, clock_pos|exact W1]. }
    replace (s' * (force i t * exp (- (s' * lead i t)) * exp (- s')))
      with (force i t * exp (- s') * (s' * exp (- (s' * lead i t)))) by ring.
    replace (s * (force i t * exp (- (s * lead i t)) * exp (- s')))
      with (force i t * exp (- s') * (s * exp (- (s * lead i t)))) by ring.
    apply Rmult_le_compat_l; [|exact Dy]. apply Rmult_le_pos; lra.
Qed.

(** Bounds row by row make bounds of sums. *)
Lemma rows_split : forall (f g h : nat -> nat -> R) x,
  (forall i t, rejected D alpha i t -> worse c i t = true -> f i t <= g i t) ->
  (forall i t, rejected D alpha i t -> worse c i t = false -> f i t <= x * h i t) ->
  Rows f <= on_worse g + x * on_rivals h.
Proof.
  intros f g h x Hw Hr. unfold BasinConditions.on_worse, BasinConditions.on_rivals.
  rewrite <- rows_scale, <- rows_plus.
  apply rows_le. intros i t R. destruct (worse c i t) eqn:E.
  - specialize (Hw i t R E). lra.
  - specialize (Hr i t R E). lra.
Qed.

Lemma on_worse_scale : forall x f, on_worse (fun i t => x * f i t) = x * on_worse f.
Proof.
  intros. unfold BasinConditions.on_worse. rewrite <- rows_scale. apply rows_ext. intros i t _.
  destruct (worse c i t); lra.
Qed.

Lemma on_worse_plus : forall f g, on_worse (fun i t => f i t + g i t) = on_worse f + on_worse g.
Proof.
  intros. unfold BasinConditions.on_worse. rewrite <- rows_plus. apply rows_ext. intros i t _.
  destruct (worse c i t); lra.
Qed.

Lemma a_ge : forall i t, rejected D alpha i t -> 1 <= a_ i t.
Proof. intros i t R. apply (proj2 (cone_kkt D alpha c dl H) i t R). Qed.

(** (a) *)
Lemma along_solution : Q * (1 - eps_a) <= Rows (fun i t => w i t * a_ i t).
Proof.
  assert (B : Rows (fun i t => - (w i t * a_ i t)) <= on_worse (fun i t => -1 * w i t) + Q * eps_a).
  { apply rows_split; intros i t R E; assert (G := a_ge i t R).
    - assert (P := worse_pos i t R E). nra.
    - destruct (rival_pull i t R E) as [P _].
      assert (N := Rle_abs (- w i t)). rewrite Rabs_Ropp in N. nra. }
  rewrite on_worse_scale in B. fold Q in B.
  rewrite (rows_ext D alpha _ (fun i t => -1 * (w i t * a_ i t))) in B by (intros; ring).
  rewrite rows_scale in B. lra.
Qed.

(** (b) *)
Lemma across_growth :
  Rows (fun i t => w i t * side i t) <= Q * (entropy c + s * tau * eps_v).
Proof.
  set (E := entropy c).
  set (y := fun i t => m i t - s' - s' * (a_ i t - 1)).
  assert (Y : forall i t, side i t = y i t).
  { intros i t. unfold y, m. rewrite margin_across. fold s' (side i t). ring. }
  assert (TP : 0 < s * tau) by (apply Rmult_lt_0_compat;
    [exact (cone_start D alpha c dl H)|exact (cone_aperture D alpha c dl H)]).
  assert (B : Rows (fun i t => w i t * side i t)
     <= on_worse (fun i t => (E - 1) * w i t
          + exp (- s' - E) * (c_high i t * exp (- (s * (a_ i t - 1)))))
        + (Q * (s * tau)) * eps_v).
  { apply rows_split; intros i t R Wo.
    - assert (P := worse_pos i t R Wo). destruct (weights i t R) as [_ B].
      destruct (B Wo) as [[_ B1] B2].
      assert (X := exp_ineq1_le (y i t - E)). rewrite Y.
      assert (G := a_ge i t R). destruct inside as [L _]. fold s' in L.
      assert (K : w i t * exp (y i t - E)
                  <= exp (- s' - E) * (c_high i t * exp (- (s * (a_ i t - 1))))).
      { apply Rle_trans with (c_high i t * exp (- m i t) * exp (y i t - E)).
        - apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|exact B1].
        - assert (C : 0 <= c_high i t).
          { assert (Em := exp_pos (- m i t)). apply Rmult_le_reg_r with (exp (- m i t)); lra. }
          rewrite Rmult_assoc, <- exp_plus.
          replace (- m i t + (y i t - E)) with (- s' - E + - (s' * (a_ i t - 1)))
            by (unfold y; ring).
          rewrite exp_plus.
          replace (exp (- s' - E) * (c_high i t * exp (- (s * (a_ i t - 1)))))
            with (c_high i t * (exp (- s' - E) * exp (- (s * (a_ i t - 1))))) by ring.
          apply Rmult_le_compat_l; [exact C|].
          apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|]. apply exp_le. nra. }
      nra.
    - destruct (rival_pull i t R Wo) as [_ P]. assert (S := side_le i t).
      assert (V := v_nonneg i t). assert (T := cone_aperture D alpha c dl H).
      apply Rle_trans with (Rabs (w i t) * Rabs (side i t)).
      { rewrite <- Rabs_mult. apply Rle_abs. }
      apply Rle_trans with (Rabs (w i t) * (v_ i t * (tau * s'))).
      { apply Rmult_le_compat_l; [apply Rabs_pos|exact S]. }
      replace (Rabs (w i t) * (v_ i t * (tau * s'))) with (s' * Rabs (w i t) * (tau * v_ i t))
        by ring.
      replace (Q * (s * tau) * (A_ i t * v_ i t)) with (Q * (s * A_ i t) * (tau * v_ i t)) by ring.
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|exact P]. }
  rewrite on_worse_plus, !on_worse_scale in B. fold Q in B.
  destruct (cone_entropy D alpha c dl H) as [_ En]. fold E in En.
  assert (F : exp (- s' - E) * on_worse (fun i t => c_high i t * exp (- (s * (a_ i t - 1)))) <= Q).
  { apply Rle_trans with (2 := pull_low).
    apply Rle_trans with (exp (- s' - E) * (Z * exp E)).
    - apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|exact En].
    - right. unfold Rminus. rewrite exp_plus, (exp_Ropp E). assert (P := exp_pos E). field. lra. }
  lra.
Qed.

(** (c) *)
Lemma across_length : Rows (fun i t => Rabs (w i t) * v_ i t) <= Q * (width c + eps_v).
Proof.
  assert (B : Rows (fun i t => Rabs (w i t) * v_ i t)
              <= on_worse (fun i t => width c * w i t) + Q * eps_v).
  { apply rows_split; intros i t R E; assert (V := v_nonneg i t).
    - assert (P := worse_pos i t R E). rewrite Rabs_right by lra.
      assert (U := proj2 (cone_width D alpha c dl H) i t R E). nra.
    - destruct (rival_pull i t R E) as [P _]. rewrite <- Rmult_assoc.
      apply Rmult_le_compat_r; assumption. }
  rewrite on_worse_scale in B. fold Q in B. lra.
Qed.

(** The same for any bound that holds for all rows at once. *)
Lemma across_length_fixed :
  Rows (fun i t => Rabs (w i t) * v_ i t) <= Rows (fun i t => force i t * exp (- low i t) * v_ i t).
Proof.
  apply rows_le. intros i t R. apply Rmult_le_compat_r; [apply v_nonneg|].
  destruct (weights i t R) as [B _]. eapply Rle_trans; [exact B|].
  apply Rmult_le_compat_l; [apply force_nonneg, R|]. apply exp_le. assert (L := low_le i t R). lra.
Qed.

End Point.
End Proof.
End Cone.
