"""What is done with conditions: certify, descend, report, and check independently."""
