"""A shop that sells the last item twice."""
