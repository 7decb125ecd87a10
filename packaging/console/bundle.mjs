// SPDX-License-Identifier: Apache-2.0
// bundle.mjs HEADER [--check]: bundles src/, compresses it, and writes it into a C++ header. The same sources and packages give
// the same bytes on every machine, so the compressor is one in JavaScript: node's own differs between versions and processors.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';
import { gzipSync } from 'fflate';

const gzipBytesMax = 60_000; // of all files together
const literalBytesMax = 65_536; // the longest string literal that every compiler must accept

const [header, mode] = process.argv.slice(2);

async function bundle(entry, loader = {}) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: ['es2022', 'chrome116', 'firefox124', 'safari17.4'],
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader,
    logLevel: 'warning',
  });
  return Buffer.from(result.outputFiles[0].contents);
}

const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

const script = await bundle('src/main.tsx');
const style = await bundle('src/style.css');
const icon = readFileSync('src/icon.svg');
const scriptName = `app.${hashOf(script)}.js`;
const styleName = `app.${hashOf(style)}.css`;
const index = Buffer.from(
  readFileSync('src/index.html', 'utf8').replace('app.js', scriptName).replace('app.css', styleName),
);

const files = [
  { path: '', type: 'text/html; charset=utf-8', bytes: index, forever: false },
  { path: scriptName, type: 'text/javascript; charset=utf-8', bytes: script, forever: true },
  { path: styleName, type: 'text/css; charset=utf-8', bytes: style, forever: true },
  { path: 'icon.svg', type: 'image/svg+xml', bytes: icon, forever: false },
].map((f) => ({ ...f, gzip: gzipSync(f.bytes, { level: 9, mem: 12, mtime: 0 }) }));

// Octal escapes, each as short as the next character allows, in lines of at most 120 columns.
function literal(bytes) {
  const lines = [];
  let line = '';
  for (let i = 0; i < bytes.length; ++i) {
    const b = bytes[i];
    const next = bytes[i + 1];
    let text;
    if (b === 0x22 || b === 0x5c) text = '\\' + String.fromCharCode(b);
    else if (b === 0x3f)
      text = '\\?'; // no trigraphs
    else if (b >= 0x20 && b < 0x7f) text = String.fromCharCode(b);
    else text = '\\' + b.toString(8).padStart(next >= 0x30 && next <= 0x37 ? 3 : 1, '0');
    if (line.length + text.length > 112) {
      lines.push(line);
      line = '';
    }
    line += text;
  }
  return [...lines, line].map((l) => `     "${l}"`).join('\n');
}

const total = files.reduce((sum, f) => sum + f.gzip.length, 0);
if (total > gzipBytesMax) throw new Error(`the page has ${total} bytes, compressed; ${gzipBytesMax} are allowed`);
for (const f of files)
  if (f.gzip.length > literalBytesMax)
    throw new Error(`${f.path} has ${f.gzip.length} bytes; a literal may have ${literalBytesMax}`);

const licence = readFileSync('node_modules/preact/LICENSE', 'utf8')
  .trim()
  .split('\n')
  .map((l) => ('// ' + l).trimEnd())
  .join('\n');
const entries = files.map(
  (f) =>
    `    {"${f.path}", "${f.type}", "\\"${hashOf(f.bytes)}\\"", ${f.forever},\n     {\n${literal(f.gzip)},\n      ${f.gzip.length}}},`,
);
const text = `// SPDX-License-Identifier: Apache-2.0
/// \\file \\brief The files of the console's web page, compressed. packaging/console/build writes this header from the
/// sources beside it; do not edit it. It is large, so only the file that serves the page includes it.
#ifndef ELASTICJOB_CONSOLE_PAGE_HPP
#define ELASTICJOB_CONSOLE_PAGE_HPP

#include <string_view>

// The page contains Preact, which has this licence:
//
${licence}

namespace elasticjob {

/// A file of the page.
struct page_file {
    std::string_view path; ///< below the address of the page; empty: the page itself
    std::string_view content_type;
    std::string_view etag; ///< as in the header of HTTP, with its quotes
    bool is_immutable;     ///< a change of the content changes the path, so it may be cached for ever
    std::string_view gzip; ///< the content, for \`Content-Encoding: gzip\`
};

// clang-format off
inline constexpr page_file page_files[] = {
${entries.join('\n')}
};
// clang-format on

} // namespace elasticjob
#endif // ELASTICJOB_CONSOLE_PAGE_HPP
`;

const sizes = files
  .map((f) => `${f.path || 'index.html'}: ${f.bytes.length} bytes, ${f.gzip.length} compressed`)
  .join('\n');
if (mode === '--check') {
  let there = '';
  try {
    there = readFileSync(header, 'utf8');
  } catch {
    // It is not there.
  }
  if (there !== text) {
    console.error(`${header} is not what the sources give: run packaging/console/build and commit the header`);
    process.exit(1);
  }
} else {
  mkdirSync(dirname(header), { recursive: true });
  writeFileSync(header, text);
}
console.log(`${sizes}\nall: ${total} bytes compressed, of ${gzipBytesMax}`);
