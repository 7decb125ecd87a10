// SPDX-License-Identifier: Apache-2.0
// Keys that work on every page.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { go } from './store';
import { Dialog } from './ui';
import { words } from './words';

const pages: Record<string, string> = {
  j: 'jobs',
  s: 'servers',
  u: 'upcoming',
  d: 'dead-letters',
  h: 'history',
  a: 'audit',
  r: 'registries',
};
const secondKeyMs = 1500;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && !!target.closest('input:not([type="checkbox"]), textarea, select, dialog');
}

function filterInSight(): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('input[type="search"]')].find((input) => input.offsetParent);
}

export function useKeys(help: () => void): void {
  useEffect(() => {
    let goBy = 0; // until when a letter names a page
    const onKey = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || isTyping(e.target)) return;
      const page = pages[e.key];
      if (page && Date.now() < goBy) go([page]);
      else if (e.key === '/') filterInSight()?.focus();
      else if (e.key === '?') help();
      else {
        goBy = e.key === 'g' ? Date.now() + secondKeyMs : 0;
        return;
      }
      goBy = 0;
      e.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

export function KeysDialog(p: { close(): void }): JSX.Element {
  const t = words();
  const rows: [string[], string][] = [
    [['/'], t.keyFilter],
    [['↑', '↓', 'j', 'k'], t.keyMove],
    [['Enter'], t.keyOpen],
    [['Space', 'x'], t.keySelect],
    [['g', 'j'], t.jobs],
    [['g', 's'], t.servers],
    [['g', 'u'], t.upcoming],
    [['g', 'd'], t.deadLetters],
    [['g', 'h'], t.history],
    [['g', 'a'], t.audit],
    [['g', 'r'], t.registries],
    [['Esc'], t.keyEscape],
    [['?'], t.keyHelp],
  ];
  return (
    <Dialog title={t.keys} close={p.close}>
      <dl class="keys">
        {rows.map(([keys, text]) => [<dt>{keys.map((k) => [<kbd>{k}</kbd>, ' '])}</dt>, <dd>{text}</dd>])}
      </dl>
      <div class="buttons">
        <button type="button" onClick={p.close}>
          {t.close}
        </button>
      </div>
    </Dialog>
  );
}
