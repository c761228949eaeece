"""`python -m qdialect` is the `qdialect` command."""

import sys

from qdialect.cli import main

sys.exit(main())
