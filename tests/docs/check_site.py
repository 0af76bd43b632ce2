#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the built documentation site: links, anchors, and that pages load nothing from the network.

    check_site.py [SITE]         default: build/site
    check_site.py --self-test
"""
import argparse
import html.parser
import pathlib
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Page(html.parser.HTMLParser):
    """Names of the anchors in a page, its links, and the files that it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = {''}, [], []
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values.get('id'), values.get('name')}
        if tag == 'a' and 'href' in values:
            self.links.append(values['href'])
        if tag in ('script', 'img', 'iframe') and values.get('src'):
            self.loaded.append(values['src'])
        if tag == 'link' and values.get('rel') not in ('canonical', 'search'):
            self.loaded.append(values.get('href', ''))


def faults(site):
    """Yields a sentence for each fault."""
    pages = {path.resolve(): Page(path) for path in site.rglob('*.html') if path.name != '404.html'}
    if not pages:
        yield f'{site}: there are no pages'
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for link in page.links + page.loaded:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded and url.scheme != 'data':
                    yield f'{name}: loads {link} from the network'
                continue
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not target.is_file():
                yield f'{name}: the link {link} has no target'
            elif target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
                yield f'{name}: the link {link} has no anchor in its page'


CASES = {
    '<a href="b.html#there">x</a><img src="data:x"><a href="https://example.org">x</a>': '',
    '<a href="gone.html">x</a>': 'has no target',
    '<a href="b.html#gone">x</a>': 'has no anchor',
    '<a href="#gone">x</a>': 'has no anchor',
    '<script src="https://example.org/x.js"></script>': 'from the network',
    '<link rel="stylesheet" href="//example.org/x.css">': 'from the network',
    '<img src="gone.png">': 'has no target',
}


def self_test():
    """Checks that each fault of CASES is found, and no other."""
    for text, expected in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / 'a.html').write_text(text, encoding='utf-8')
            (site / 'b.html').write_text('<h1 id="there">x</h1>', encoding='utf-8')
            found = list(faults(site))
            if len(found) != bool(expected) or not all(expected in fault for fault in found):
                sys.exit(f'check_site.py --self-test: {text}: {found}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('site', nargs='?', default=ROOT / 'build/site', type=pathlib.Path)
    parser.add_argument('--self-test', action='store_true')
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    found = list(faults(arguments.site))
    print('\n'.join(found) or f'{arguments.site}: no dead links')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
