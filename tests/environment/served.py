"""What a server's workers serve when only the way there is looked at."""

import base64
import time
from collections.abc import Mapping
from typing import Any

from cuda_agent.workers.item import Answer


class Quick:
    """Gives back the submission's model_new.py; sleeps as many seconds as it says there."""

    def probe(self, _payload: Mapping[str, Any]) -> Answer:
        """Well."""
        return Answer(value={})

    def build(self, payload: Mapping[str, Any]) -> Answer:
        """Nothing to do."""
        return Answer(value={}, is_last=False)

    def judge(self, payload: Mapping[str, Any]) -> Answer:
        """Sleep, and give the text back."""
        text = base64.b64decode(payload["files"]["model_new.py"]).decode()
        time.sleep(float(text))
        return Answer(value={"text": text})

    def close(self) -> None:
        """Nothing to tidy up."""
