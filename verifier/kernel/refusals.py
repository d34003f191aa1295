"""Every way in which a certificate file is not accepted.

A file is *unreadable* when it is not a certificate file at all, and *refused* when it is one but
does not prove what it says. The codes are a closed list; each is reached by a test.
"""

from __future__ import annotations

import enum


@enum.unique
class Code(enum.Enum):
    """Why something is refused; the value is the meaning in one line."""

    # The form of the file
    DUPLICATE_KEY = "an object has the same key twice"
    UNKNOWN_FIELD = "an object has a field that its form does not have"
    MISSING_FIELD = "an object lacks a field"
    WRONG_TYPE = "a value has another JSON type than its place asks for"
    NOT_A_NUMBER = "neither an integer, nor p/q with q at least 1, nor a hexadecimal float"
    NUMBER_LIMIT = "a number has too many characters or too large an exponent"
    WRONG_LENGTH = "a list has another number of entries than its place asks for"
    EMPTY = "a list that must have an entry has none"
    OUT_OF_RANGE = "a number is outside the range of its place"
    UNKNOWN_NAME = "a name is none of those its place allows"
    NOT_INCREASING = "entries that must increase strictly do not"
    SELECTED_ROW = "a row names the selected token of its sample"
    BAD_LABEL = "a label is neither 1 nor -1"
    ZERO_ENTRY = "a sparse vector spells out a zero"
    NOT_POSITIVE = "a number that must be positive is not"
    # The run and the verdicts
    WRONG_SELECTED = "the run's selected tokens are not the largest logits at its final matrix"
    SELECTION_UNFIT = "a selection where the condition has none, or none where it has one"
    LOSS_UNFIT = "a loss where there must be none, none where there must be one, or an unfit one"
    REPEATED_VERDICT = "the same condition, selection and loss have a verdict already"
    CERTIFICATE_UNFIT = "a proved verdict without certificate, or an undecided one with one"
    KIND_UNFIT = "this kind of certificate cannot prove this status of this condition"
    EVIDENCE_UNFIT = "the evidence is not the one that the certificate gives"
    STATUS_UNPROVED = "the certificate is right, but the opposite status follows from it"
    # Scores
    NOT_OPTIMAL = "a token does not have the strictly largest score of its sample"
    NOT_TIED = "two tokens do not share the largest score of their sample"
    WRONG_LEVELS = "the stated score levels are not those of the sample"
    NOT_UNEQUAL = "two tokens are not both below the largest score with different scores"
    WRONG_CONSTANT = "the stated constant is not the least gap to a lower token"
    NO_GAP = "the first token of a pair does not have the larger score"
    WRONG_FLATNESS = "a sample is flat where it must not be, or the other way round"
    OPTIMUM_NOT_UNIQUE = "a sample's optimal token is not unique"
    # Att-SVM
    MARGIN_TOO_SMALL = "a margin is not shown to be as large as it must be"
    NOT_COMPLEMENTARY = "a positive multiplier stands at a margin other than 1"
    NOT_CANCELLING = "a combination of features is not zero"
    NOT_DEPENDENT = "there are no more features than dimensions"
    BROKEN_CYCLE = "an edge does not end at the selected token of the next edge"
    QUERY_NOT_MULTIPLE = "a query on the cycle is not a positive multiple of the first one"
    NOT_A_PARTITION = "the classes are not the samples grouped by equal query"
    WRONG_ORDER = "an order does not list its tokens once, or puts a rejected one too early"
    WRONG_SUPPORT = "the stated support indices are not those that follow"
    WRONG_NORM = "the stated squared norm is not the one that follows, or not close enough"
    COARSE_INVERSE = "the inverse does not show that the Gram matrix is nonsingular"
    NOT_EXCLUDED = "a row is not shown, or not listed, to be no support index"
    # Gen-SVM
    WRONG_SIDE = "a row is inside the set of its sample where it must not be, or outside"
    UNEQUAL_LOGITS = "tokens of one set do not have equal logits"
    # Mixtures of tokens
    NOT_A_MIXTURE = "weights are not nonnegative numbers whose sum is 1"
    NOT_LARGEST = "a mixture of the tokens does not give the largest value"
    NOT_ALONE = "other mixtures of the tokens are not shown to give smaller values"
    # Ranks
    NOT_INDEPENDENT = "rows are not shown to be independent modulo the modulus"
    WRONG_RANK = "the stated rank is not the one that follows"
    # The nuclear norm
    EQUAL_OPTIMA = "two optima that must differ are equal"
    SECOND_OPTIMUM = "a second optimum is not excluded"
    # First step and stationary points
    SIGN_NOT_SHOWN = "a margin of the first step is not shown to have its sign"
    NOT_STATIONARY = "the gradient at zero does not vanish identically"
    NOT_MONOTONE = "along D some logits fall while the scores rise"
    NO_WITNESS = "logits and scores do not both differ at the witness"
    NOT_SEPARATING = "u is on the wrong side of a query, or strictly right of none"
    NOT_A_BASIS = "the rows of a basis are dependent, or do not span the features"
    NOT_CONTRACTING = "Krawczyk's test does not show a zero of the gradient in the box"
    WRONG_INERTIA = "the Hessian is not shown to have the stated number of negative eigenvalues"
    DESCENT_NOT_SHOWN = "the loss is not shown to move along the direction on the whole cell"
    # Limits of gradient descent
    STEP_UNFIT = "a step is negative, or 0 although it is no flow, or not 0 although it is one"
    SCORE_LIMIT = "a score is larger in size than this kind allows"
    CLOCK_NOT_SHOWN = "a start is not shown to have the stated clock"
    CONE_NOT_SHOWN = "a condition on the rows in the cone is not shown"
    NOT_KEPT = "starts are not shown to lie in the cone, or descent not to leave it"
    NOT_LOCALLY_OPTIMAL = "a support index does not score below its selected token"
    DEGENERATE = "the support is not one row for each multiplier and rows with its feature"
    NOT_DEFINITE = "an eigenvalue bound is not shown"
    BALL_LEFT = "the residual in the span of the support is not shown to stay in its ball"
    DRIFT_LEFT = "the residual across the span of the support is not shown to drift so little"
    STEP_TOO_LARGE = "the step is not shown to be short enough"
    BETA_TOO_SMALL = "beta is not shown to bound the second derivatives of the loss"
    NOT_STALLED = "descent is not shown to stay in the ball, or the ball to miss the line of W^mm"
    EXCESS_TOO_LARGE = "the loss is not shown to be below its threshold"
    FEATURE_ZERO = "a feature is zero where none may be"
    FEATURE_NOT_ZERO = "a feature is not zero where it must be"
    PRODUCT_NEGATIVE = "two features have a negative inner product where none may"
    PRODUCT_NOT_NEGATIVE = "two features do not have a negative inner product where they must"
    RAY_LEFT = "descent is not shown to stay on the line of the direction and to move along it"
    NOT_STRAY = "the direction is not shown to be that of no locally optimal selection"
    # Runs
    OTHER_DESCENT = "the basin of a run is one of another rule or step"
    NOT_ENCLOSED = "the steps of a run cannot be followed closely enough at its precision"
    NOT_IN_BALL = "the last iterate of a run is not shown to be inside the ball of the basin"
    # Families
    NOT_A_POINT = "a polynomial does not have exactly one root in the interval of a point"
    SIGN_UNPROVED = "a polynomial is not shown to have its sign on a piece"
    # Trees
    BROKEN_TREE = "the nodes are not those of the tree in preorder"
    REPEATED_BRANCH = "a sample is branched on that was branched on above"
    MISPLACED_ENTRY = "an entry stands at a vertex that its kind cannot close"
    NOT_HEXADECIMAL = "a string has other characters than lower-case hexadecimal digits"
    NOT_OBSTRUCTED = "a feature that can be kept has a positive product with the obstruction"
    NOT_CLOSED = "the multipliers do not show that a selection is not exceptional"
    WRONG_SELECTIONS = "the listed selections are not those that the tree shows exceptional"
    NOT_EXCEPTIONAL = "the selection is not shown to contradict the condition"


class Refusal(Exception):  # noqa: N818 - the field's word
    """Something in a readable file is refused: why, where, and in words."""

    def __init__(self, code: Code, place: object, message: str) -> None:
        self.code, self.place, self.message = code, str(place), message
        super().__init__(f"{code.name} at {self.place}: {message}")


class Unreadable(Exception):  # noqa: N818 - as above
    """The input is no certificate file of this version."""


def shown(value: object) -> str:
    """A short one-line rendering of any JSON value, safe for values of any size.

    >>> shown(10**100), shown([1, 2]), shown("a")
    ('an integer of 333 bits', 'a list of 2', "'a'")
    """
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        bits = value.bit_length()
        return str(value) if bits <= 256 else f"an integer of {bits} bits"
    if isinstance(value, str):
        return ascii(value) if len(value) <= 60 else f"{value[:60]!a}..."
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    return f"a {type(value).__name__}"
