// SPDX-License-Identifier: Apache-2.0
// One stream of changes for the browser: one tab holds it and passes on to the others what it hears.
import { useEffect, useRef } from 'preact/hooks';
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

interface Told {
  change?: Change;
  live?: boolean;
  asked?: boolean;
}

/** Follows the stream at a path, until the returned function is called. */
export function follow(path: string, kinds: readonly string[]): () => void {
  const url = new URL(path, document.baseURI).href;
  const stop = new AbortController();
  const channel = 'BroadcastChannel' in self ? new BroadcastChannel('elasticjob ' + url) : undefined;
  isLive.set(false);

  const hold = () =>
    new Promise<void>((done) => {
      let source: EventSource | undefined;
      let timer = 0;
      let begun = false;
      const pass = (told: Told) => {
        if (told.live !== undefined) isLive.set(told.live);
        if (told.change) tell(told.change);
        channel?.postMessage(told);
      };
      const open = () => {
        source = new EventSource(url);
        source.onopen = () => {
          pass({ live: true });
          if (begun) pass({ change: { kind: 'reset' } }); // the server may have forgotten where we were
          begun = true;
        };
        source.onerror = () => {
          pass({ live: false });
          if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
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
            const job =
              (data as { job?: unknown; name?: unknown } | null)?.job ?? (data as { name?: unknown } | null)?.name;
            pass({ change: typeof job === 'string' ? { kind, job, data } : { kind, data } });
          });
      };
      if (channel)
        channel.onmessage = (e: MessageEvent<Told>) => e.data.asked && channel.postMessage({ live: isLive.get() });
      open();
      stop.signal.addEventListener('abort', () => {
        source?.close();
        clearTimeout(timer);
        done();
      });
    });

  if (channel && 'locks' in navigator) {
    channel.onmessage = (e: MessageEvent<Told>) => {
      if (e.data.live !== undefined) isLive.set(e.data.live);
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

const pauseMs = 100; // between two questions because of changes, so that a busy job does not keep the server busy

/** Calls `again` after a change of the job; of many changes at once only after the first and the last. */
export function useChangesOf(job: string, again: () => void): void {
  const timer = useRef(0);
  const latest = useRef(again);
  latest.current = again;
  const quietUntil = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useChanges(
    (change) => {
      if (change.kind !== 'reset' && change.job !== job) return;
      clearTimeout(timer.current);
      const wait = quietUntil.current - Date.now();
      const go = () => {
        quietUntil.current = Date.now() + pauseMs;
        latest.current();
      };
      if (wait <= 0) go();
      else timer.current = setTimeout(go, wait);
    },
    [job],
  );
}
