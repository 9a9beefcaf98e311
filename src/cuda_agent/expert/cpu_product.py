"""Write one matrix product of a plan as C++ for the CPU."""

from cuda_agent.expert.plan import Product
from cuda_agent.expert.text_product import find_touched, write_matrix, write_size


class CpuProduct:
    """The C++ of one product; product.h does the work."""

    def __init__(self, product: Product) -> None:
        """Prepare to write `product`."""
        self.product = product

    def write(self) -> str:
        """The whole function."""
        product = self.product
        names = find_touched(product)
        arguments = ", ".join(f"{'' if name == product.out else 'const '}float* {name}" for name in names)
        left, right = write_matrix(product.left), write_matrix(product.right)
        lines = [f"  const auto left = {left};", f"  const auto right = {right};"]
        call = f"  multiply({write_size(product)}, left, right, {product.out});"
        return "\n".join([f"static void {product.name}({arguments}) {{", *lines, call, "}"]) + "\n"

    def write_call(self) -> str:
        """The call from `fused`."""
        return f"{self.product.name}({', '.join(find_touched(self.product))});"
