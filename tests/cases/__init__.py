"""Cases from bug reports of other tools; the originals run where they stand beside the checkout."""
