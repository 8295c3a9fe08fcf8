-- An invented, consistent audit of 2026Q3 for tests of the reports: four providers, six teams, and
-- figures that follow from a dozen rows below by addition. Its id is the last row's result.
-- Run on a migrated database; psql variable `hostile` (default 0)
-- set to 1 adds an outsider's strings and makes it a draft.
\set ON_ERROR_STOP on
\if :{?hostile}
\else
\set hostile 0
\endif
SET search_path = audit;
SET TimeZone = 'UTC';
BEGIN;

INSERT INTO audit (estate, quarter, from_time, to_time, revision, is_final, currency, idle_threshold_pct, inputs_sha256,
                   created, program_version)
VALUES (CASE :hostile WHEN 0 THEN 'seed' ELSE 'hostile' END, '2026Q3', '2026-07-01', '2026-10-01', 1, :hostile = 0, 'USD', 5,
        'c0ffee00d15ea5e5c0ffee00d15ea5e5c0ffee00d15ea5e5c0ffee00d15ea5e5', '2026-10-05 08:00:00', '0.1.0')
RETURNING audit_id \gset

CREATE TEMP TABLE seed (
    provider text, model text, region text, pricing text, pool text, team text, project text, issue text,
    gpus numeric, instances bigint, running numeric, covered numeric, idle numeric, sm numeric, unused numeric, corrected numeric,
    billed numeric, effective numeric, correction numeric, unused_cost numeric, list numeric, idle_cost numeric,
    unknown_cost numeric, util double precision, is_tagged boolean);
INSERT INTO seed VALUES
('aws','H100','us-east-1','committed','training','Research','llm-base','ML-12', 32,4,70656,69800,9400.25,38000.5,0,0, 0,176640.00,0,0,353280.00,23500.63,2140.00,61.2,true),
('aws','A100 80GB','us-east-1','on-demand','training','Research','vision','ML-14', 16,2,30912,30100,4100,15800.25,0,-24, 125193.60,125193.60,-97.20,0,125193.60,16605.00,3288.60,55.0,true),
('aws','A10G','eu-west-1','on-demand','inference','Search','ranking','SRCH-3', 24,24,52992,52992,21000.5,NULL,0,0, 53309.95,53309.95,0,0,53309.95,21126.50,0,22.4,true),
('aws','L4','eu-west-1','spot','inference','Search','embeddings','SRCH-9', 12,12,15800,14900,1200,6100,0,0, 4740.00,4740.00,0,0,12640.00,360.00,270.00,48.9,true),
('azure','A100 80GB','westeurope','on-demand','azure-ml','Fraud','scoring','FR-1', 8,2,17664,17664,12100,3300,0,0, 64827.00,64827.00,0,0,64827.00,44407.00,0,14.1,true),
('azure','V100','westeurope','on-demand','azure-ml','','','', 4,4,8832,0,0,NULL,0,0, 27025.92,27025.92,0,0,27025.92,0,27025.92,NULL,false),
('gcp','H100','us-central1','committed','gcp-train','Speech','asr','SP-7', 16,2,33120,31900,3100,19900,2208,0, 0,89424.00,0,9273.60,115920.00,8370.00,3294.00,66.0,true),
('gcp','L4','us-central1','on-demand','gcp-serve','Speech','tts','SP-8', 10,10,22080,21500,6600,9100,0,0, 15676.80,15676.80,0,0,15676.80,4686.00,411.80,35.5,true),
('on-prem','A100 80GB','dc-1','other','hpc','Physics','lattice','PH-1', 32,4,70656,70656,11000,33000.125,0,0, 49459.20,49459.20,0,0,NULL,7700.00,0,58.3,false),
('on-prem','V100','dc-1','other','hpc','Robotics','sim','RB-2', 16,2,35328,20000,9800,NULL,0,0, 14131.20,14131.20,0,0,NULL,3920.00,6131.20,31.0,false);
INSERT INTO seed
SELECT 'aws','T4','eu-west-1','on-demand','pool', E'=1+1\r\nBcc: x@example.com', team, 'ML-1',
       1,1,100,100,50,NULL,0,0, 52.60,52.60,0,0,52.60,26.30,0,30,true
FROM unnest(ARRAY['=HYPERLINK("http://198.51.100.9/","x")', '+SUM(A1)', '@SUM(1)', '-2+3', E'\t=cmd()', E'bell\x07 esc\x1b _x0041_', '</script><script>alert(1)</script>',
                  'العربية مشروع', '🚀🤖 rocket', repeat('long ', 8000), '{{currency}} %s &amp;']) team
WHERE :hostile <> 0;

-- One row per dimension and key.
CREATE TEMP VIEW scope AS
SELECT d.dimension, d.key, s.* FROM seed s CROSS JOIN LATERAL (VALUES
    ('total', ''), ('provider', provider), ('model', model), ('region', region), ('pricing', pricing),
    ('pool', pool), ('team', team), ('project', project), ('issue', issue)) d (dimension, key);

INSERT INTO audit_figure (audit_id, dimension, key, gpus, instances, provisioned_gpu_hours, running_gpu_hours, billed_gpu_hours,
    corrected_gpu_hours, unused_commitment_gpu_hours, owned_gpu_hours, observed_gpu_hours, covered_gpu_hours, coverage_pct,
    unknown_gpu_hours, idle_gpu_hours, idle_pct, idle_time_pct, busy_gpu_hours, effective_gpu_hours, sm_covered_gpu_hours,
    avg_util_pct, p50_cell_util_pct, p95_cell_util_pct, p99_cell_util_pct, max_cell_util_pct, peak_hour_util_pct, peak_hour,
    avg_sm_pct, peak_running_gpus, peak_busy_gpus, billed_cost, effective_cost, correction_cost, unused_commitment_cost,
    idle_cost, unknown_cost, gpu_cost, list_cost, cost_per_provisioned_gpu_hour, cost_per_busy_gpu_hour,
    cost_per_effective_gpu_hour, untagged_cost)
SELECT :audit_id, dimension, key, sum(gpus), sum(instances), sum(running + corrected + unused), sum(running),
    sum(running) FILTER (WHERE provider <> 'on-prem'), sum(corrected), sum(unused), sum(running) FILTER (WHERE provider = 'on-prem'),
    nullif(sum(covered), 0), sum(covered), 100 * sum(covered) / sum(running), sum(running - covered), sum(idle),
    100 * sum(idle) / nullif(sum(covered), 0), 100 * sum(idle) * 1.04 / nullif(sum(covered), 0), sum(covered - idle), sum(sm),
    sum(covered) FILTER (WHERE sm IS NOT NULL), avg(util), avg(util) * 0.9, least(avg(util) * 1.5, 99), 99.2, 100,
    least(avg(util) * 1.4, 98), CASE WHEN avg(util) IS NOT NULL THEN timestamptz '2026-08-19 14:00' END, avg(util) * 0.7,
    sum(gpus), round(sum(gpus) * 0.82), sum(billed + correction), sum(effective + correction), sum(correction), sum(unused_cost),
    sum(idle_cost), sum(unknown_cost), sum(effective + correction + unused_cost), sum(list),
    sum(effective + correction + unused_cost) / sum(running + corrected + unused),
    sum(effective + correction + unused_cost) / nullif(sum(covered - idle), 0),
    sum(effective + correction + unused_cost) / nullif(sum(sm), 0), sum(effective) FILTER (WHERE NOT is_tagged)
FROM scope GROUP BY dimension, key;

INSERT INTO audit_ledger
SELECT :audit_id, dimension, key, l.*
FROM (SELECT dimension, key, sum(covered - idle) busy, sum(idle) idle, sum(running - covered) unknown, sum(unused) unused,
             sum(corrected) corrected, sum(effective - idle_cost - unknown_cost) busy_cost, sum(idle_cost) idle_cost,
             sum(unknown_cost) unknown_cost, sum(unused_cost) unused_cost, sum(correction) correction_cost
      FROM scope GROUP BY dimension, key) s
CROSS JOIN LATERAL (VALUES
    (1, 'busy', true, busy, busy_cost),
    (2, 'idle while allocated', true, NULL, NULL),
    (3, 'idle and unallocated', true, NULL, NULL),
    (4, 'idle, allocation unknown', true, idle, idle_cost),
    (5, 'unknown', true, unknown, unknown_cost),
    (6, 'unused commitment', true, unused, unused_cost),
    (7, 'corrected', true, corrected, correction_cost),
    (8, 'observed but not billed', false, CASE WHEN dimension = 'total' THEN 412.5 END, NULL)) l (n, line, in_sum, hours, cost);

INSERT INTO audit_idle_stretch
SELECT :audit_id, n, s.provider, 'i-0' || md5(n::text), 'i-0' || md5(n::text), CASE WHEN n % 5 > 0 THEN 'p4d.24xlarge' END, s.model,
       s.region, s.pricing, s.pool, s.team, s.project, s.issue, 8, timestamptz '2026-07-03' + n * interval '61 hours',
       timestamptz '2026-07-03' + n * interval '61 hours' + (25 + n * 7) * interval '1 hour', 25 + n * 7, 8 * (25 + n * 7),
       round(8 * (25 + n * 7) * 3.91, 2), n * 0.83, CASE WHEN n % 3 = 0 THEN 'util' ELSE 'sm' END, n = 30
FROM generate_series(1, 30) n
JOIN LATERAL (SELECT * FROM seed ORDER BY md5(seed.project || n) LIMIT 1) s ON true;

INSERT INTO audit_unobserved
SELECT :audit_id, provider, '/subscriptions/00000000/resourcegroups/ml/providers/microsoft.compute/virtualmachines/nc-' || n,
       'Standard_NC6s_v3', team, project, 2208, 6756.48, true
FROM seed, generate_series(1, 4) n WHERE model = 'V100' AND provider = 'azure';
INSERT INTO audit_unobserved VALUES (:audit_id, 'on-prem', 'rack-7-node-2', NULL, 'Robotics', 'sim', 15328, 6131.20, false);
INSERT INTO audit_unbilled VALUES
    (:audit_id, 'GPU-3c1f2b9e-0000-4000-8000-000000000001', 'lab-ws-04', 'NVIDIA RTX A6000', 412.5, '2026-07-14', '2026-08-02');

INSERT INTO audit_invoice
SELECT :audit_id, 'bills', provider, month, 'USD', rows, use + corrections + purchases + other, use + corrections + purchases, other,
       use, corrections, purchases, other, rejected, true, days
FROM (VALUES ('aws','2026-07',48211,61081.18,0,58880.00,18230.1177,0,31), ('aws','2026-08',49120,61081.18,-97.20,58880.00,19410.55,2,31),
             ('aws','2026-09',47003,61081.19,0,58880.00,17777.0001,0,30), ('azure','2026-07',9120,30617.64,0,0,8123.45,0,31),
             ('azure','2026-08',9011,30617.64,0,0,8001.2,0,31), ('azure','2026-09',8899,30617.64,0,0,7990,0,29),
             ('gcp','2026-07',14201,5225.60,0,32899.20,4400,0,31), ('gcp','2026-08',14190,5225.60,0,32899.20,4512.125,0,31),
             ('gcp','2026-09',13988,5225.60,0,32899.20,4380,0,30)) i (provider, month, rows, use, corrections, purchases, other, rejected, days);

INSERT INTO audit_commitment (audit_id, provider, commitment_id, commitment_name, commitment_type, category, model, region, pool, bought,
    used_gpu_hours, used_cost, unused_gpu_hours, unused_cost, gpu_share, discount_pct)
VALUES
    (:audit_id,'aws','sp-7f3a','Compute plan, three years','Savings Plan','Spend','','','',176640,70656,176640,0,0,1,50),
    (:audit_id,'gcp','cud-h100','H100, one year','CUD','Usage','H100','us-central1','gcp-train',98697.60,33120,89424,2208,9273.60,1,22.86);

INSERT INTO audit_assumption VALUES
    (:audit_id,2,'idle_pct','all','',15,22.8,7.8,52,10,95.4,'%','deviates','7.8 points above the assumed share','FinOps','2026-01-01','budget round 2026'),
    (:audit_id,3,'avg_util_pct','pool','training',60,58.9,-1.1,-1.8,10,97.1,'%','holds','within the tolerance','FinOps','2026-01-01','capacity plan'),
    (:audit_id,4,'peak_busy_gpus','model','H100',48,39,-9,-18.75,10,96.0,'GPUs','deviates','the pool is larger than its peak','Platform','2026-04-01','training road map'),
    (:audit_id,5,'cost_per_provisioned_gpu_hour','provider','aws',2.1,2.1104,0.0104,0.5,5,NULL,'USD','holds','within the tolerance','Procurement','2026-01-01',NULL),
    (:audit_id,6,'idle_pct','model','V100',20,49,29,145,10,45.3,'%','not enough evidence','45.3 % of its GPU-hours are covered; a verdict needs 80 %',NULL,NULL,NULL),
    (:audit_id,7,'gpu_hours','team','Speech',60000,57408,-2592,-4.3,10,96.8,'GPU-hours','holds','within the tolerance','Speech','2026-07-01','team plan');

INSERT INTO recommendation
SELECT :audit_id, n, rule, stack, title, provider, pool, resource, team, project, now, proposed, saving * 0.8, saving, saving * 1.15,
       acted, formula, 'idle-stretches', grade, confidence, risk, effort, owner
FROM (VALUES
    (1,'end-idle',1,'Stop the scoring nodes between nights','azure','azure-ml','vm-scoring-1','Fraud','scoring','8 GPUs idle 68 % of their hours','stop after 2 h idle, start at 20:00',11842.55,14802.33,'idle cost of stretches over 24 h / 3 months','measured','high','start-up takes six minutes','low','Fraud'),
    (2,'end-idle',1,'Return four ranking hosts','aws','inference',NULL,'Search','ranking','24 A10G, 40 % idle','20 A10G with autoscaling',3120.4,5281.0,'idle cost of stretches over 24 h / 3 months','measured','high','peaks on Mondays','medium','Search'),
    (3,'end-idle',1,'Find the owner of four V100 machines and stop them','azure','azure-ml',NULL,'','','4 GPUs that nobody measures and no tag names','owner named or machines stopped',0,9008.64,'no saving is claimed without evidence','not measured','low','may be in use','low',''),
    (4,'commit',6,'Commit the steady part of the A100 training pool','aws','training',NULL,'Research','vision','on-demand, 16 GPUs','one-year plan for 11 GPUs',9214.07,28696.1,'d-quantile of the residual demand x discount','measured','medium','demand falls below 11 GPUs','medium','Research'),
    (5,'commit',6,'Commit the steady L4 serving load','gcp','gcp-serve',NULL,'Speech','tts','on-demand, 10 GPUs','one-year commitment for 6 GPUs',861.2,3135.36,'d-quantile of the residual demand x discount','measured','medium','demand falls below 6 GPUs','low','Speech')
) r (n, rule, stack, title, provider, pool, resource, team, project, now, proposed, saving, acted, formula, grade, confidence, risk, effort, owner);

INSERT INTO audit_quality VALUES
    (:audit_id,1,'coverage','4.6 % of the running GPU-hours have no sample',5,15576,42561.52,'add a telemetry source for azure-ml and rack-7, then ingest and analyze again'),
    (:audit_id,2,'rejects','2 rows of the bill of aws 2026-08 could not be read',2,NULL,NULL,'see audit.reject; ask for the export again'),
    (:audit_id,3,'missing days','the bill of azure 2026-09 has charges on 29 of 30 days',1,NULL,NULL,'check that the export of 2026-09 is complete'),
    (:audit_id,4,'untagged','resources without a team tag',22,114816,90616.32,'tag them, or name them in tag rules');

INSERT INTO audit_completeness (audit_id, source_name, period, in_window, state, reason, doubt, days_expected, days_with_use, days_missing,
    first_day, last_day, delivered, rows_invoiced, rows_uninvoiced, rows_rejected)
VALUES
    (:audit_id,'bills','2026-07',true,'final','every row carries an invoice number',NULL,31,31,NULL,'2026-07-01','2026-07-31','2026-08-16 04:00',71532,0,0),
    (:audit_id,'bills','2026-08',true,'final','every row carries an invoice number','2 rows were rejected',31,31,NULL,'2026-08-01','2026-08-31','2026-09-16 04:00',72321,0,2),
    (:audit_id,'bills','2026-09',true,'unknown','the bill has no invoice numbers, so nothing tells whether it is closed','1 day without use between days with use',30,29,
     '2026-09-12','2026-09-01','2026-09-30',NULL,NULL,NULL,0);

INSERT INTO audit_rate VALUES
    (:audit_id,'billing bills','2026-08','USD',1,'the audit''s own currency',0,NULL),
    (:audit_id,'billing bills','2026-08','EUR',1.25,'the bill''s own: USD to EUR 0.8, turned round',1,1520.40),
    (:audit_id,'billing bills','2026-09','CHF',NULL,'no rate of CHF to USD',0,70.5);

INSERT INTO audit_gap (audit_id, subject_no, provider, kind, month, currency, billed_cost, effective_cost)
VALUES (:audit_id, NULL, 'azure', 'rate', '2026-09', 'CHF', 70.5, 70.5);

INSERT INTO audit_unknown_type VALUES
    (:audit_id,'aws','p9.96xlarge',NULL,2,48,NULL,960,960,'aws,p9.96xlarge,MODEL,GPUS'),
    (:audit_id,'azure','Standard_ND128_X1000',16,1,10,160,250,250,'azure,Standard_ND128_X1000,MODEL,16');

INSERT INTO audit_tag_collision VALUES
    (:audit_id,'aws','i-0a1b2c3d','team','team = Vision; Team = NLP; user_team = ops','Vision','its key is written as in the configuration',312.5);

INSERT INTO source (kind, name, format, location) VALUES ('billing', 'bills', 'focus', '/srv/bills') ON CONFLICT DO NOTHING;
INSERT INTO slice (source_id, period) SELECT source_id, '2026-07' FROM source WHERE name = 'bills' ON CONFLICT DO NOTHING;
INSERT INTO audit_input
SELECT :audit_id, source_id, slice_id, '/srv/bills/aws-2026-07.csv.gz', repeat('ab', 32), 48211, 9120, 39091, 0, true
FROM slice JOIN source USING (source_id) WHERE source.name = 'bills';

COMMIT;
SELECT :audit_id;
