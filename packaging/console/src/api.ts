// SPDX-License-Identifier: Apache-2.0
// Requests to the server. Every path is relative to the page, so a prefix of a reverse proxy changes nothing.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Cell, type Query } from './store';
import type { Rows } from './table';

/** What the server has refused, or what went wrong on the way. */
export class Problem extends Error {
  constructor(
    readonly status: number, // 0: there was no answer
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }

  /** Whether the command may have been carried out: the server says so, or something between has answered instead. */
  get isOutcomeUnknown(): boolean {
    const codes = ['unknown_outcome', 'session_lost', 'timed_out', 'closed', 'malformed_answer'];
    return [0, 502, 504].includes(this.status) || codes.includes(this.code);
  }
}

export function problemText(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}

/** The last refusal because the server does not know who the reader is. */
export const stranger = new Cell<Problem | undefined>(undefined);

/** What the first answer for the registry has said of its last change: the stream goes on from there. */
export const firstChange = new Cell('');

const timeoutMs = 60_000; // the longest that an overview of the server may take

export interface Answer<T> {
  body: T;
  tag: string; // of the entity, for If-Match; empty: none
}

export interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  query?: Query;
  body?: unknown;
  tag?: string; // of what the request changes
  isNew?: boolean; // what the request creates must not be there
  key?: string; // of idempotency
  isSigningIn?: boolean; // so a refusal says only that it went wrong
  signal?: AbortSignal;
}

export async function ask<T>(path: string, request: Request = {}): Promise<Answer<T>> {
  const url = new URL(path, document.baseURI);
  url.hash = '';
  for (const [name, value] of Object.entries(request.query ?? {})) if (value) url.searchParams.append(name, value);
  const headers: Record<string, string> = { Accept: 'application/json, application/problem+json' };
  if (request.body !== undefined) headers['Content-Type'] = 'application/json';
  if (request.tag) headers['If-Match'] = request.tag;
  if (request.isNew) headers['If-None-Match'] = '*';
  if (request.key) headers['Idempotency-Key'] = request.key;
  const limit = AbortSignal.timeout(timeoutMs);
  let reply: Response;
  let text: string;
  try {
    reply = await fetch(url, {
      method: request.method ?? 'GET',
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: request.signal ? AbortSignal.any([request.signal, limit]) : limit,
      credentials: 'same-origin',
      redirect: 'error',
    });
    text = await reply.text();
  } catch (e) {
    if (request.signal?.aborted) throw e;
    throw new Problem(0, 'no_answer', `${url.pathname}: ${problemText(e)}`);
  }
  const change = reply.headers.get('Elasticjob-Change');
  if (change && !firstChange.get()) firstChange.set(change);
  let body: unknown = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    throw new Problem(reply.status, 'malformed_answer', `${url.pathname}: ${reply.status} ${text.slice(0, 200)}`);
  }
  if (!reply.ok) {
    const told = (body ?? {}) as Record<string, unknown>;
    const said = [told.detail ?? told.title ?? reply.statusText, told.where].filter(Boolean).join(' – ');
    const problem = new Problem(
      reply.status,
      String(told.code ?? told.type ?? reply.status),
      said || String(reply.status),
      told,
    );
    if (reply.status === 401 && !request.isSigningIn) stranger.set(problem);
    throw problem;
  }
  return { body: body as T, tag: reply.headers.get('ETag') ?? '' };
}

/** A key of idempotency: repeating a request under it does nothing twice. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');
}

export interface Loaded<T> {
  body?: T | undefined;
  tag: string;
  fault?: Problem | undefined;
  busy: boolean;
  again(): void;
}

/** What is at a path; an empty path asks for nothing. Another path drops what was there before. */
export function useGet<T>(path: string, query: Query = {}): Loaded<T> {
  const key = path + JSON.stringify(query);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ key: string; body?: T; tag: string; fault?: Problem; busy: boolean }>({
    key,
    tag: '',
    busy: true,
  });
  const flight = useRef({ isBusy: false, isStale: false });
  useEffect(() => {
    if (!path) return undefined;
    const stop = new AbortController();
    const mine = { isBusy: true, isStale: false };
    flight.current = mine;
    const land = () => {
      mine.isBusy = false;
      if (mine.isStale && !stop.signal.aborted) setTurn((n) => n + 1);
    };
    setState((s) => (s.key === key ? { ...s, busy: true } : { key, tag: '', busy: true }));
    ask<T>(path, { query, signal: stop.signal })
      .then(
        (a) => setState({ key, body: a.body, tag: a.tag, busy: false }),
        (e: unknown) => {
          if (stop.signal.aborted) return;
          const fault = e instanceof Problem ? e : new Problem(0, 'unknown', problemText(e));
          setState((s) => ({ ...(s.key === key ? s : { tag: '' }), key, fault, busy: false }));
        },
      )
      .finally(land);
    return () => stop.abort();
  }, [key, turn]);
  // A request that is on its way is not given up: else changes that come faster than answers would keep all of them away.
  const again = () => {
    if (flight.current.isBusy) flight.current.isStale = true;
    else setTurn((n) => n + 1);
  };
  return state.key === key ? { ...state, again } : { tag: '', busy: !!path, again };
}

export interface Page<R> {
  rows: R[];
  next: string; // the cursor; empty: this is the last page
  total?: number | undefined;
}

export interface Paged<R> extends Rows<R> {
  rows: R[];
  total: number | undefined;
  complete: boolean;
  /** Begins again with the first page, and keeps the rows until it is there. */
  again(): void;
  /** Replaces or removes a row that has changed. */
  patch(change: (row: R) => R | undefined): void;
}

const loadedMax = 20_000;

/** A value of the component that is up to date even in effects of an earlier drawing; `set` draws anew. */
function useHeld<T extends { key: string }>(key: string, empty: () => T): { get(): T; set(value: T): void } {
  const held = useRef<T | undefined>(undefined);
  if (held.current?.key !== key) held.current = empty();
  const [, redraw] = useState(0);
  return {
    get: () => held.current!,
    set: (value) => {
      held.current = value;
      redraw((n) => n + 1);
    },
  };
}

/** Rows that come page by page, each after a cursor that the page before has named. */
export function usePages<R>(key: string, load: (cursor: string, signal: AbortSignal) => Promise<Page<R>>): Paged<R> {
  interface State {
    key: string;
    rows: R[];
    next: string;
    total?: number | undefined;
    begun: boolean;
    fault?: string | undefined;
  }
  const held = useHeld<State>(key, () => ({ key, rows: [], next: '', begun: false }));
  const flight = useRef<AbortController | undefined>(undefined);
  const wanted = useRef(0);

  const fetchPage = (cursor: string, before: R[]) => {
    flight.current?.abort();
    const mine = new AbortController();
    flight.current = mine;
    load(cursor, mine.signal).then(
      (page) => {
        if (flight.current !== mine) return;
        flight.current = undefined;
        const rows = [...before, ...page.rows];
        held.set({ key, rows, next: rows.length < loadedMax ? page.next : '', total: page.total, begun: true });
        fetchWanted();
      },
      (e: unknown) => {
        if (flight.current !== mine) return;
        flight.current = undefined;
        held.set({ ...held.get(), begun: true, next: '', fault: problemText(e) });
      },
    );
  };
  const fetchWanted = () => {
    const { begun, next, rows } = held.get();
    if (begun && next && !flight.current && wanted.current > rows.length) fetchPage(next, rows);
  };
  useEffect(() => {
    wanted.current = 0;
    fetchPage('', []);
    return () => {
      flight.current?.abort();
      flight.current = undefined;
    };
  }, [key]);

  const state = held.get();
  const loaded = state.rows.length;
  return {
    rows: state.rows,
    total: state.total,
    complete: state.begun && !state.next,
    fault: state.fault,
    busy: !state.begun || !!flight.current,
    count: loaded + (state.next ? Math.min(20, Math.max(1, (state.total ?? Infinity) - loaded)) : 0),
    at: (i) => state.rows[i],
    want: (_, end) => {
      wanted.current = end;
      fetchWanted();
    },
    again: () => fetchPage('', []),
    patch: (change) => {
      const now = held.get();
      held.set({ ...now, rows: now.rows.map((r) => change(r)).filter((r): r is R & {} => r !== undefined) });
    },
  };
}

const blockSize = 100;
const blocksMax = 40;

/** Rows that can be asked for at any index. Blocks far from what is in sight are forgotten. */
export function useBlocks<R>(
  key: string,
  load: (first: number, count: number, signal: AbortSignal) => Promise<{ rows: R[]; total: number }>,
): Rows<R> & { total: number | undefined; again(): void } {
  interface State {
    key: string;
    blocks: Map<number, R[]>;
    total?: number;
    fault?: string;
  }
  const held = useHeld<State>(key, () => ({ key, blocks: new Map() }));
  const flights = useRef(new Map<number, AbortController>());
  const stale = useRef(new Set<number>()); // blocks that are on their way and have changed meanwhile
  const sight = useRef<[number, number]>([0, 0]);

  const fetchBlock = (block: number) => {
    if (flights.current.has(block)) return;
    const stop = new AbortController();
    flights.current.set(block, stop);
    const end = () => {
      if (flights.current.get(block) !== stop) return false;
      flights.current.delete(block);
      if (stale.current.delete(block)) fetchBlock(block);
      return true;
    };
    load(block * blockSize, blockSize, stop.signal).then(
      (page) => {
        if (!end()) return;
        const blocks = new Map(held.get().blocks);
        blocks.delete(block);
        blocks.set(block, page.rows);
        for (const old of blocks.keys()) if (blocks.size > blocksMax) blocks.delete(old);
        held.set({ key, blocks, total: page.total });
      },
      (e: unknown) => {
        if (end()) held.set({ ...held.get(), fault: problemText(e) });
      },
    );
  };
  useEffect(() => {
    fetchBlock(0);
    return () => {
      for (const stop of flights.current.values()) stop.abort();
      flights.current.clear();
      stale.current.clear();
    };
  }, [key]);
  const inSight = () => {
    const [first, end] = sight.current;
    return Array.from(
      { length: Math.max(1, Math.ceil(end / blockSize) - Math.floor(first / blockSize)) },
      (_, n) => Math.floor(first / blockSize) + n,
    );
  };
  const state = held.get();
  return {
    count: state.total ?? 0,
    total: state.total,
    fault: state.fault,
    busy: state.total === undefined && !state.fault,
    at: (i) => state.blocks.get(Math.floor(i / blockSize))?.[i % blockSize],
    want: (first, end) => {
      sight.current = [first, end];
      const { total, fault, blocks } = held.get();
      if (total === undefined || fault) return;
      for (const block of inSight()) if (block * blockSize < total && !blocks.has(block)) fetchBlock(block);
    },
    again: () => {
      const shown = inSight();
      const now = held.get();
      // What is out of sight is asked for when it comes into sight.
      held.set({ ...now, blocks: new Map([...now.blocks].filter(([block]) => shown.includes(block))) });
      for (const block of shown)
        if (flights.current.has(block)) stale.current.add(block);
        else fetchBlock(block);
    },
  };
}
