"""Text, one example a line: svmlight, Vowpal Wabbit, CSV, ARFF, JSON."""
