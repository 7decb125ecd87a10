// SPDX-License-Identifier: Apache-2.0
// Instants and durations for readers.
import { Cell, clock, language } from './store';

/** The zone of the job that is shown; empty: none, or not known. */
export const jobZone = new Cell('');

/** The zone in which instants are shown; undefined: that of the reader. */
export function shownZone(zone = jobZone.get()): string | undefined {
  if (clock.get() === 'utc') return 'UTC';
  return clock.get() === 'job' && zone ? zone : undefined;
}

const formats = new Map<string, Intl.DateTimeFormat>();
function format(options: Intl.DateTimeFormatOptions, zone?: string): Intl.DateTimeFormat {
  const key = JSON.stringify(options) + zone + language.get();
  let found = formats.get(key);
  if (!found) {
    const locale = language.get() === 'zh' ? 'zh-CN' : 'en-GB';
    try {
      found = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
    } catch {
      found = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }); // a zone that the browser does not know
    }
    formats.set(key, found);
  }
  return found;
}

const day: Intl.DateTimeFormatOptions = { year: 'numeric', month: '2-digit', day: '2-digit' };
const hour: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };

function parts(at: Date, options: Intl.DateTimeFormatOptions, zone?: string): Record<string, string> {
  return Object.fromEntries(
    format(options, zone)
      .formatToParts(at)
      .map((p) => [p.type, p.value]),
  );
}

/** An instant as an input of date and time wants it, in UTC if that is chosen, otherwise in the zone of the reader. */
export function inputText(instant: string): string {
  const at = new Date(instant);
  if (!instant || Number.isNaN(at.getTime())) return '';
  const offset = clock.get() === 'utc' ? 0 : at.getTimezoneOffset();
  return new Date(at.getTime() - offset * 60_000).toISOString().slice(0, 19);
}

/** The instant that such an input says; nothing if it is empty. */
export function inputInstant(text: string): string | undefined {
  const at = new Date(clock.get() === 'utc' ? text + 'Z' : text);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** `2026-03-29` */
export function dateText(at: Date, zone = shownZone()): string {
  const p = parts(at, day, zone);
  return `${p.year}-${p.month}-${p.day}`;
}

/** `02:00:05` */
export function clockText(at: Date, zone = shownZone()): string {
  const p = parts(at, hour, zone);
  return `${p.hour}:${p.minute}:${p.second}`;
}

/** `02:00:05` of today, `03-29 02:00` of another day in this year, and with the year otherwise; no seconds if they are 0. */
export function timeText(text: string | null | undefined, zone = shownZone()): string {
  if (!text) return '';
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const date = dateText(at, zone);
  const today = dateText(new Date(), zone);
  const time = clockText(at, zone);
  if (date === today) return time;
  const isThisYear = date.slice(0, 5) === today.slice(0, 5);
  return `${isThisYear ? date.slice(5) : date} ${time.replace(/(:\d\d):00$/, '$1')}`;
}

/** With date, milliseconds if there are any, and the name of the zone. */
export function fullTime(text: string | null | undefined, zone = shownZone()): string {
  if (!text) return '';
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const ms = at.getUTCMilliseconds() ? '.' + String(at.getUTCMilliseconds()).padStart(3, '0') : '';
  const name = parts(at, { ...hour, timeZoneName: 'short' }, zone).timeZoneName ?? '';
  return `${dateText(at, zone)} ${clockText(at, zone)}${ms} ${name}`;
}

const units: [number, string, string][] = [
  [86_400_000, 'd', '天'],
  [3_600_000, 'h', '小时'],
  [60_000, 'min', '分钟'],
  [1000, 's', '秒'],
];

/** `2 h 5 min`; `350 ms`. */
export function durationText(ms: number): string {
  const zh = language.get() === 'zh';
  const size = Math.abs(ms);
  if (size < 1000) return `${Math.round(ms)} ${zh ? '毫秒' : 'ms'}`;
  if (size < 10_000) return `${(ms / 1000).toFixed(1)} ${zh ? '秒' : 's'}`;
  const said: string[] = [];
  let rest = Math.round(size / 1000) * 1000;
  for (const [length, en, cn] of units) {
    const n = Math.floor(rest / length);
    rest -= n * length;
    if (n) said.push(`${n} ${zh ? cn : en}`);
    if (said.length === 2) break;
  }
  return (ms < 0 ? '−' : '') + said.join(' ');
}

/** In one unit. */
function roughText(ms: number): string {
  const [length, en, cn] = units.find(([l]) => ms >= 1.5 * l) ?? units.at(-1)!;
  return `${Math.max(1, Math.round(ms / length))} ${language.get() === 'zh' ? cn : en}`;
}

/** `in 3 min`; `2 h ago`. */
export function distanceText(text: string | null | undefined, now = Date.now()): string {
  if (!text) return '';
  const ms = new Date(text).getTime() - now;
  if (Number.isNaN(ms)) return '';
  const size = roughText(Math.abs(ms));
  if (language.get() === 'zh') return ms >= 0 ? `${size}后` : `${size}前`;
  return ms >= 0 ? `in ${size}` : `${size} ago`;
}

/** Changes once a second, for what counts down. Nothing ticks while the page is hidden. */
export const second = new Cell(0);
setInterval(() => {
  if (!document.hidden) second.set(second.get() + 1);
}, 1000);
