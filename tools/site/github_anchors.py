# SPDX-License-Identifier: Apache-2.0
"""Anchors of headings as GitHub makes them; mkdocs loads this module by name."""
import re


def slugify(heading, _separator):
    """Returns the anchor of a heading."""
    return re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')
