// SPDX-License-Identifier: Apache-2.0
// One job: its tabs, and its rounds.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useGet } from './api';
import { AuditTable } from './audit';
import { give } from './command';
import { ConfigurationEditor } from './configuration';
import { allowed, at, commandOnJob, toJob, toRounds, type JobDetail } from './data';
import { DeadLettersTable } from './dead_letters';
import { HistoryTable } from './history';
import { Instances } from './instances';
import { Item } from './item';
import { Items } from './items';
import { useChangesOf } from './live';
import { HealthChip } from './marks';
import { hrefTo } from './store';
import { jobZone } from './time';
import { Timeline } from './timeline';
import { Card, Notice, Time } from './ui';
import { words } from './words';

const tabs = ['overview', 'items', 'instances', 'configuration', 'dead-letters', 'history', 'audit'] as const;

export function JobPage(p: { name: string; tab: string; item: string | undefined }): JSX.Element {
  const t = words();
  const asked = useGet<unknown>(at('jobs', p.name));
  const job = asked.body === undefined ? undefined : toJob(asked.body);
  useChangesOf(p.name, asked.again);
  useEffect(() => {
    jobZone.set(job?.zone ?? '');
    return () => jobZone.set('');
  }, [job?.zone]);
  if (!job || asked.fault?.status === 404) {
    if (!asked.fault)
      return (
        <p class="muted" role="status">
          {t.loading}
        </p>
      );
    return (
      <Notice tone="bad">
        {asked.fault.status === 404 ? t.jobMissing(p.name) : asked.fault.message}{' '}
        <a href={hrefTo(['jobs'])}>{t.toJobs}</a>
      </Notice>
    );
  }
  const titles: Record<string, string> = {
    overview: t.overview,
    items: `${t.items} ${job.itemCount}`,
    instances: `${t.instances} ${job.instanceCount}`,
    configuration: t.configuration,
    'dead-letters': t.deadLetters,
    history: t.history,
    audit: t.audit,
  };
  const command = (verb: string, name: 'trigger' | 'disable' | 'enable' | 'shut-down') =>
    give({
      verb,
      subjects: [p.name],
      isGrave: name === 'shut-down',
      done: asked.again,
      send: (subject, by) => commandOnJob(subject, name, by),
    });
  return (
    <>
      <div class="head">
        <nav aria-label={t.jobs}>
          <a href={hrefTo(['jobs'])}>{t.jobs}</a> <span aria-hidden="true">/</span>
        </nav>
        <h1 class="wrap">{p.name}</h1>
        <HealthChip health={job.health} fault={job.fault} />
        <span class="grow" />
        {allowed('command') && (
          <div class="row">
            <button type="button" title={t.triggerLong} onClick={() => command(t.trigger, 'trigger')}>
              {t.trigger}
            </button>
            {job.health === 'disabled' || job.status === 'DISABLED' ? (
              <button type="button" onClick={() => command(t.enable, 'enable')}>
                {t.enable}
              </button>
            ) : (
              <button type="button" onClick={() => command(t.disable, 'disable')}>
                {t.disable}
              </button>
            )}
            <button type="button" class="danger" onClick={() => command(t.shutDown, 'shut-down')}>
              {t.shutDown}
            </button>
          </div>
        )}
      </div>
      <nav class="tabs" aria-label={p.name}>
        {tabs.map((tab) => (
          <a
            key={tab}
            href={hrefTo(['jobs', p.name, ...(tab === 'overview' ? [] : [tab])])}
            aria-current={p.tab === tab ? 'page' : undefined}
          >
            {titles[tab]}
          </a>
        ))}
      </nav>
      {job.fault && <Notice tone="bad">{job.fault}</Notice>}
      {p.tab === 'overview' && <Overview job={job} />}
      {p.tab === 'items' &&
        (p.item === undefined ? <Items job={job} /> : <Item key={p.item} job={job} item={p.item} />)}
      {p.tab === 'instances' && <Instances job={job} />}
      {p.tab === 'configuration' && <ConfigurationEditor name={p.name} />}
      {p.tab === 'dead-letters' && <DeadLettersTable job={p.name} />}
      {p.tab === 'history' && <HistoryTable job={p.name} />}
      {p.tab === 'audit' && <AuditTable job={p.name} />}
    </>
  );
}
function Overview(p: { job: JobDetail }): JSX.Element {
  const t = words();
  const { job } = p;
  const rounds = useGet<unknown>(at('jobs', job.name, 'rounds'));
  useChangesOf(job.name, rounds.again);
  return (
    <div class="cards">
      <Card title={t.timeline} wide>
        {rounds.fault ? (
          <p class="muted">{rounds.fault.message}</p>
        ) : rounds.body === undefined ? (
          <p class="muted">{t.loading}</p>
        ) : (
          <Timeline rounds={toRounds(rounds.body)} zone={job.zone} />
        )}
      </Card>
      <Card title={t.facts}>
        <dl class="facts">
          <dt>{t.cron}</dt>
          <dd class="mono">{job.schedule || '–'}</dd>
          {job.inWords && (
            <>
              <dt>{t.inWords}</dt>
              <dd>{job.inWords}</dd>
            </>
          )}
          <dt>{t.zone}</dt>
          <dd>{job.zone || '–'}</dd>
          <dt>{t.items}</dt>
          <dd>
            <a href={hrefTo(['jobs', job.name, 'items'])}>{job.itemCount}</a>
          </dd>
          <dt>{t.instances}</dt>
          <dd>
            <a href={hrefTo(['jobs', job.name, 'instances'])}>{job.instanceCount}</a>
          </dd>
          <dt>{t.health}</dt>
          <dd>{t.healthHints[job.health] ?? job.health}</dd>
          <dt>{t.description}</dt>
          <dd>{job.description || '–'}</dd>
        </dl>
      </Card>
      <Card title={t.nextDues}>
        {job.dues.length ? (
          <ol>
            {job.dues.map((due) => (
              <li key={due}>
                <Time at={due} zone={job.zone} distance />
              </li>
            ))}
          </ol>
        ) : (
          <p class="muted">{t.neverDue}</p>
        )}
      </Card>
    </div>
  );
}
