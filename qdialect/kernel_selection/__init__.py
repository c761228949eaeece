"""
The fastest kernels of a target for what a model computes, by measured costs.

`targets/costs/` holds the costs, `targets/pricing.py` what a kernel costs by them. The passes that choose:
`choose-convolution-form`, `collapse-transpose`, `fold-float-weights`, `legalize-sums`, `lower-to-matmul`,
`lower-to-product` and `lower-to-table`. A target without costs gets what all kernels compute alike.
"""
