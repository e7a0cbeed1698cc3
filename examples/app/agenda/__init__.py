"""The examples of the AGENDA paper (Deng, Frankl, Chen, TR-CIS-2003-03) as small applications."""
