"""Numbers one may decide with: rationals, balls, and verified floating-point linear algebra."""
