// SPDX-License-Identifier: Apache-2.0
// One stream of changes for the browser: one tab holds it and passes on to the others what it hears.
import { useEffect, useRef } from 'preact/hooks';
import { firstChange } from './api';
import { Cell } from './store';

/** What has changed. A reset means that changes may have been missed: ask again for everything that is shown. */
export interface Change {
  kind: string;
  job?: string;
  data?: unknown;
}

export const isLive = new Cell(false);

const followers = new Set<(change: Change) => void>();
function tell(change: Change): void {
  for (const follower of [...followers]) follower(change);
}

/** Calls `heard` for each change while the component is shown. */
export function useChanges(heard: (change: Change) => void, keys: unknown[]): void {
  useEffect(() => {
    followers.add(heard);
    return () => void followers.delete(heard);
  }, keys);
}

const retryMs = 2000;
const firstAnswerMs = 2000; // the stream waits so long for it

interface Told {
  change?: Change;
  id?: string; // of the change
  live?: boolean;
  asked?: boolean;
}

function firstAnswer(): Promise<void> {
  return new Promise((resolve) => {
    if (firstChange.get()) return resolve();
    const leave = firstChange.follow(() => {
      leave();
      resolve();
    });
    setTimeout(resolve, firstAnswerMs);
  });
}

/** Follows the stream at a path, until the returned function is called. `refused` is called when the server says no. */
export function follow(path: string, kinds: readonly string[], refused: () => void): () => void {
  const url = new URL(path, document.baseURI).href;
  const stop = new AbortController();
  const channel = 'BroadcastChannel' in self ? new BroadcastChannel('elasticjob ' + url) : undefined;
  let last = ''; // the id of the last change that was heard
  isLive.set(false);
  firstChange.set('');

  const hold = async () => {
    let source: EventSource | undefined;
    let timer = 0;
    const pass = (told: Told) => {
      if (told.live !== undefined) isLive.set(told.live);
      if (told.change) tell(told.change);
      channel?.postMessage(told);
    };
    const open = () => {
      const after = last || firstChange.get();
      source = new EventSource(after ? `${url}?after=${encodeURIComponent(after)}` : url);
      source.onopen = () => pass({ live: true });
      source.onerror = () => {
        pass({ live: false });
        if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself, from the last change on
        refused();
        timer = setTimeout(open, retryMs);
      };
      for (const kind of kinds)
        source.addEventListener(kind, (e: MessageEvent<string>) => {
          let data: unknown;
          try {
            data = JSON.parse(e.data || 'null');
          } catch {
            data = null;
          }
          last = e.lastEventId;
          const job = (data as { job?: unknown } | null)?.job;
          pass({ change: typeof job === 'string' ? { kind, job, data } : { kind, data }, id: last });
        });
    };
    if (channel)
      channel.onmessage = (e: MessageEvent<Told>) => e.data.asked && channel.postMessage({ live: isLive.get() });
    await firstAnswer();
    if (stop.signal.aborted) return;
    open();
    await new Promise((done) => stop.signal.addEventListener('abort', done));
    source?.close();
    clearTimeout(timer);
  };

  if (channel && 'locks' in navigator) {
    channel.onmessage = (e: MessageEvent<Told>) => {
      if (e.data.live !== undefined) isLive.set(e.data.live);
      last = e.data.id || last;
      if (e.data.change) tell(e.data.change);
    };
    channel.postMessage({ asked: true });
    // The tab that gets the lock holds the stream. When it is closed, the next one gets both.
    navigator.locks.request('elasticjob ' + url, { signal: stop.signal }, hold).catch(() => undefined);
  } else {
    void hold(); // without a secure context there are no locks: each tab has its own stream
  }
  return () => {
    stop.abort();
    channel?.close();
    isLive.set(false);
  };
}

// Between two questions because of changes, so that busy jobs do not keep the server busy.
const pauseMs = 100;
const pauseOfAllMs = 10_000; // a list over all jobs costs a request to the registry for each of them

/** Calls `again` after a change of the job, or of any job; of many changes at once only after the first and the last. */
export function useChangesOf(job: string | undefined, again: () => void): void {
  const timer = useRef(0);
  const latest = useRef(again);
  latest.current = again;
  const quietUntil = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useChanges(
    (change) => {
      if (change.kind !== 'reset' && job !== undefined && change.job !== job) return;
      clearTimeout(timer.current);
      const wait = quietUntil.current - Date.now();
      const go = () => {
        quietUntil.current = Date.now() + (job === undefined ? pauseOfAllMs : pauseMs);
        latest.current();
      };
      if (wait <= 0) go();
      else timer.current = setTimeout(go, wait);
    },
    [job],
  );
}

const shortUpTo = 100; // rows; a longer list is being read further down, and begins anew only when the reader wants it

/** Keeps a list up to date that tells of one job, or of all. */
export function useFreshRows(job: string | undefined, rows: { rows: unknown[]; again(): void }): void {
  useChangesOf(job, () => {
    if (rows.rows.length <= shortUpTo) rows.again();
  });
}
