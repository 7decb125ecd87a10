// SPDX-License-Identifier: Apache-2.0
// One item of a job: why it runs, ran, or waits, and what became of its last due instants.
import type { JSX } from 'preact';
import { useBlocks, useGet } from './api';
import { give } from './command';
import {
  allowed,
  at,
  commandOnItem,
  itemPage,
  toExplanation,
  type ItemCommand,
  type ItemRow,
  type JobDetail,
} from './data';
import { ItemState } from './items';
import { useChangesOf } from './live';
import { HealthChip, OutcomeMark } from './marks';
import { changeQuery, hrefTo, place, useCell } from './store';
import { durationText, inputInstant, inputText } from './time';
import { Card, Notice, Time } from './ui';
import { words } from './words';

/** One item: why, what became of its last due instants, and its commands. */
export function Item(p: { job: JobDetail; item: string }): JSX.Element {
  const t = words();
  const { name, itemCount } = p.job;
  const number = /^\d{1,9}$/.test(p.item) ? Number(p.item) : NaN;
  const exists = number < itemCount;
  const rows = useBlocks<ItemRow>(JSON.stringify([name, p.item]), (_, __, signal) =>
    exists
      ? itemPage(name, { first: number, count: 1, health: '', owner: '' }, signal)
      : Promise.resolve({ rows: [], total: 0 }),
  );
  useChangesOf(name, rows.again);
  const item = rows.at(0);
  if (!exists) return <Notice tone="bad">{t.itemMissing(p.item, itemCount)}</Notice>;
  const command = (verb: string, what: ItemCommand) =>
    give({
      verb,
      subjects: [`${name} / ${p.item}`],
      done: rows.again,
      send: (_, by) => commandOnItem(name, p.item, what, by),
    });
  return (
    <>
      <div class="head">
        <h2>
          {t.item} {p.item}
        </h2>
        {item && <HealthChip health={item.health} fault={item.fault} />}
        <span class="grow" />
        {number > 0 && (
          <a class="button" href={hrefTo(['jobs', name, 'items', number - 1])}>
            {t.previous}
          </a>
        )}
        {number + 1 < itemCount && (
          <a class="button" href={hrefTo(['jobs', name, 'items', number + 1])}>
            {t.next}
          </a>
        )}
        {item && allowed('command') && (
          <>
            <button type="button" onClick={() => command(t.trigger, 'trigger')}>
              {t.trigger}
            </button>
            {item.isDisabled ? (
              <button type="button" onClick={() => command(t.enable, 'enable')}>
                {t.enable}
              </button>
            ) : (
              <button type="button" onClick={() => command(t.disable, 'disable')}>
                {t.disable}
              </button>
            )}
            {item.running && (
              <button type="button" class="danger" onClick={() => command(t.stop, 'stop')}>
                {t.stop}
              </button>
            )}
          </>
        )}
      </div>
      {rows.fault && <Notice tone="bad">{rows.fault}</Notice>}
      <div class="cards">
        <Explanation job={p.job} item={p.item} />
        {item && (
          <>
            <Card title={t.facts}>
              <dl class="facts">
                <dt>{t.owner}</dt>
                <dd class="mono">{item.owner || t.nobody}</dd>
                <dt>{t.state}</dt>
                <dd>
                  <ItemState item={item} zone={p.job.zone} />
                </dd>
                {item.progress && (
                  <>
                    <dt>{t.progress}</dt>
                    <dd>{item.progress}</dd>
                  </>
                )}
                <dt>{t.nextDue}</dt>
                <dd>
                  <Time at={item.nextDue} zone={p.job.zone} distance />
                </dd>
                <dt>{t.deadLetters}</dt>
                <dd>
                  {item.deadLetters ? <a href={hrefTo(['jobs', name, 'dead-letters'])}>{item.deadLetters}</a> : 0}
                </dd>
              </dl>
            </Card>
            <Card title={t.recentRuns} wide>
              <div class="scroll" tabIndex={0} role="region" aria-label={t.recentRuns}>
                <table class="list">
                  <thead>
                    <tr>
                      {[t.due, t.outcome, t.began, t.duration, t.attempt, t.instance, t.note].map((h) => (
                        <th scope="col" key={h}>
                          {h}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {item.ledger.map((e) => (
                      <tr key={e.due + e.attempt + e.outcome}>
                        <td>
                          {e.count > 1 && (
                            <>
                              {e.count}× {t.upTo}{' '}
                            </>
                          )}
                          <Time at={e.due} zone={p.job.zone} />
                        </td>
                        <td>
                          <OutcomeMark outcome={e.outcome} /> {t.outcomes[e.outcome] ?? e.outcome}
                        </td>
                        <td>
                          <Time at={e.begun} zone={p.job.zone} />
                        </td>
                        <td>{e.begun && e.ended ? durationText(Date.parse(e.ended) - Date.parse(e.begun)) : '–'}</td>
                        <td>{e.attempt}</td>
                        <td class="mono">{e.instance}</td>
                        <td>{e.note}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </Card>
          </>
        )}
      </div>
    </>
  );
}

/** Why an item runs, ran, or waits. */
function Explanation(p: { job: JobDetail; item: string }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const instant = here.query.get('instant') ?? '';
  const asked = useGet<unknown>(at('jobs', p.job.name, 'items', p.item, 'explanation'), { instant });
  useChangesOf(p.job.name, asked.again);
  return (
    <Card title={t.explanation} wide>
      <div aria-live="polite">
        {asked.fault ? (
          <p class="muted">{asked.fault.message}</p>
        ) : asked.body === undefined ? (
          <p class="muted">{t.loading}</p>
        ) : (
          <ExplanationText text={toExplanation(asked.body)} />
        )}
      </div>
      <div class="row">
        <label for="explain-instant">{t.explainAt}</label>
        <input
          id="explain-instant"
          type="datetime-local"
          step={1}
          value={inputText(instant)}
          onChange={(e) => changeQuery({ instant: inputInstant(e.currentTarget.value) })}
        />
      </div>
    </Card>
  );
}

const shortUpTo = 3; // lines of an explanation; the others are shown on request

function ExplanationText(p: { text: string }): JSX.Element {
  const t = words();
  const [lead = '', ...lines] = p.text.split('\n');
  const rest = lines.map((line) => line.replace(/^- /, ''));
  const list = (some: string[]) => (
    <ul class="small bullets">
      {some.map((line) => (
        <li class="wrap" key={line}>
          {line}
        </li>
      ))}
    </ul>
  );
  return (
    <>
      <p class="wrap">
        <b>{lead}</b>
      </p>
      {rest.length > 0 && list(rest.slice(0, shortUpTo))}
      {rest.length > shortUpTo && (
        <details class="small">
          <summary>{t.more(rest.length - shortUpTo)}</summary>
          {list(rest.slice(shortUpTo))}
        </details>
      )}
    </>
  );
}
