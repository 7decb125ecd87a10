// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen for this browser, and the place that the address names.
import { useEffect, useState } from 'preact/hooks';

/** A value that components follow. */
export class Cell<T> {
  private readonly followers = new Set<() => void>();
  constructor(private value: T) {}
  get(): T {
    return this.value;
  }
  set(value: T): void {
    if (value === this.value) return;
    this.value = value;
    for (const tell of [...this.followers]) tell();
  }
  follow(tell: () => void): () => void {
    this.followers.add(tell);
    return () => this.followers.delete(tell);
  }
}

export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useState(0);
  const value = cell.get();
  useEffect(() => {
    if (cell.get() !== value) redraw((n) => n + 1); // it changed between the drawing and now
    return cell.follow(() => redraw((n) => n + 1));
  }, [cell]);
  return value;
}

/** A choice that the browser keeps. Without storage it lasts as long as the page. */
function kept<T extends string>(name: string, allowed: readonly T[], otherwise: T): Cell<T> {
  const key = 'elasticjob.' + name;
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(key);
  } catch {
    // Storage is switched off.
  }
  const cell = new Cell<T>(allowed.find((a) => a === stored) ?? otherwise);
  cell.follow(() => {
    try {
      localStorage.setItem(key, cell.get());
    } catch {
      // As above.
    }
  });
  return cell;
}

export const themes = ['system', 'light', 'dark'] as const;
export const theme = kept('theme', themes, 'system');
export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];
export const language = kept<Language>('language', languages, navigator.language.startsWith('zh') ? 'zh' : 'en');
export const clocks = ['reader', 'job', 'utc'] as const;
/** In whose time zone instants are shown. */
export const clock = kept('clock', clocks, 'reader');

export function followTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    const chosen = theme.get();
    document.documentElement.dataset.theme = chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen;
  };
  dark.addEventListener('change', show);
  theme.follow(show);
  show();
  const speak = () => (document.documentElement.lang = language.get() === 'zh' ? 'zh-CN' : 'en');
  language.follow(speak);
  speak();
}

/** True while the page is as narrow as a phone. */
const phone = matchMedia('(max-width: 760px)');
export const narrow = new Cell(phone.matches);
phone.addEventListener('change', () => narrow.set(phone.matches));

/** What the address names: `#/REGISTRY/PAGE/…?QUERY`. The text behind `#` works behind every proxy and path prefix. */
export interface Place {
  registry: string;
  page: string;
  path: string[];
  query: URLSearchParams;
}

function readPlace(): Place {
  const [way = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [registry = '', page = 'jobs', ...path] = way.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { registry, page: page || 'jobs', path, query: new URLSearchParams(query) };
}

export const place = new Cell<Place>(readPlace());
addEventListener('hashchange', () => place.set(readPlace()));

export type Query = Record<string, string | undefined>;

function queryText(query: Query | URLSearchParams): string {
  const all = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const set = all.filter((pair): pair is [string, string] => !!pair[1]);
  return set.length ? '?' + new URLSearchParams(set).toString() : '';
}

/** The address of a page of the registry that is shown. */
export function hrefTo(path: readonly (string | number)[], query: Query | URLSearchParams = {}): string {
  const all = [place.get().registry, ...path];
  return '#/' + all.map((part) => encodeURIComponent(part)).join('/') + queryText(query);
}

export function go(path: readonly (string | number)[], query: Query | URLSearchParams = {}): void {
  location.hash = hrefTo(path, query);
}

/** Changes the query of the address without a new entry in the history of the browser. */
export function changeQuery(change: Query): void {
  const here = place.get();
  const query = new URLSearchParams(here.query);
  for (const [name, value] of Object.entries(change))
    if (value) query.set(name, value);
    else query.delete(name);
  history.replaceState(null, '', hrefTo([here.page, ...here.path], query));
  place.set(readPlace());
}
