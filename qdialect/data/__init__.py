"""What models are fed, and what they are judged by: samples, images, labels, metrics."""
