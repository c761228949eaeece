"""
Rounding, in numpy, for a caller that has the activations of the float model:

    layer = layer_of(op)                                      layers.py: how a linear op is a product of matrices
    hessian = Hessian(layer, grid_step(largest |x|),          hessian.py: one for the data that steer, one for data
                      rows_per_sample(layer, samples))        held out; exact sums, `merge` is an addition
    hessian.update(x)                                         x float32, samples along axis 0
    grid = weight_grid(layer, w, -127, 127, per_channel=True) gptq.py: scales; or Grid(scales, zero_points, low, ...)
    rounded = round_weight(layer, w, grid, hessian, held_out) .stored in w's shape; to nearest where that is better
    shift = analytic_shift(layer, w, grid, rounded.stored, hessian.mean())    rounding.py: to add to a float bias,
                                                              (channels,); `shift_biases` adds it in a module
    blocked_codes(rows, hessian, 32, -8, 7, np.int8)          int4 in blocks: codes and scales
    Pairs(module, samples, largest, memory)                   input_errors.py: moments of inputs with the errors of the
    error_of(rows), best_target(steering, judging)            layers before; what to round in place of the weight

`hessian_bytes(layer)` is the memory of one Hessian; waves of layers keep within a budget.
"""
