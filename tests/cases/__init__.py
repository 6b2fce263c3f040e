"""The small inputs that went wrong, beside the checkout: what each command must answer."""
