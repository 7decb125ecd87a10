// SPDX-License-Identifier: Apache-2.0
// The last rounds of a job, on an axis of time.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Round } from './data';
import { toneOf } from './marks';
import { clock, useCell } from './store';
import { clockText, dateText, durationText, fullTime, shownZone } from './time';
import { words } from './words';

const height = 84;
const top = 22;
const barHeight = 26;

/** Steps of the axis, in milliseconds. */
const steps = [
  1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000,
].map((s) => s * 1000);

export function Timeline(p: { rounds: Round[]; zone?: string | undefined }): JSX.Element {
  const t = words();
  useCell(clock);
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => box.current && setWidth(Math.max(200, box.current.clientWidth)));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const zone = shownZone(p.zone || undefined);
  const now = Date.now();
  const spans = p.rounds.map((r) => {
    const begin = Date.parse(r.begun ?? r.due);
    return {
      round: r,
      begin,
      end: Math.max(begin, r.ended ? Date.parse(r.ended) : r.outcome === 'running' ? now : begin),
    };
  });
  if (!spans.length)
    return (
      <p class="muted" ref={box}>
        {t.timelineNone}
      </p>
    );
  const from = Math.min(...spans.map((s) => s.begin));
  const to = Math.max(now, ...spans.map((s) => s.end));
  const length = Math.max(1000, to - from);
  const x = (at: number) => 4 + ((at - from) / length) * (width - 8);
  const step = steps.find((s) => length / s <= width / 110) ?? steps.at(-1)!;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && ticks.length < 40; at += step) ticks.push(at);
  return (
    <figure>
      <div ref={box}>
        <svg class="timeline" viewBox={`0 0 ${width} ${height}`} height={height} role="group" aria-label={t.timeline}>
          {ticks.map((at) => (
            <g key={at} aria-hidden="true">
              <line class="axis" x1={x(at)} x2={x(at)} y1={14} y2={height - 18} />
              <text x={Math.min(x(at), width - 62)} y={height - 5}>
                {step >= 86_400_000
                  ? dateText(new Date(at), zone)
                  : clockText(new Date(at), zone).slice(0, step < 60_000 ? 8 : 5)}
              </text>
            </g>
          ))}
          <line class="axis" x1={0} x2={width} y1={height - 18} y2={height - 18} />
          <line class="now" x1={x(now)} x2={x(now)} y1={8} y2={height - 18} />
          {spans.map(({ round, begin, end }) => {
            const text = t.roundOf(
              fullTime(round.due, zone),
              t.outcomes[round.outcome] ?? round.outcome,
              durationText(end - begin),
            );
            return (
              <g key={round.due} role="img" aria-label={text}>
                <title>{text}</title>
                <rect
                  class={toneOf(round.outcome)}
                  x={x(begin)}
                  y={top + (round.outcome === 'failed' ? 0 : 4)}
                  rx={2}
                  width={Math.max(4, x(end) - x(begin))}
                  height={barHeight - (round.outcome === 'failed' ? 0 : 4)}
                />
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption class="small muted">{t.timelineHint}</figcaption>
    </figure>
  );
}
