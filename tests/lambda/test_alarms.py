"""The alarms and the dashboard of template.yaml, and what the documents say of them."""

import json
import re
import unittest

import metrics
from deployment import TOP
from stack import Stack, expanded, template
from test_template import CAPACITY, SIGN_IN


class Alarms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = expanded()

    def stack(self, **parameters):
        return Stack(self.whole, **{**SIGN_IN, **parameters})

    def test_alarms_tell_somebody(self):
        alarms = [one for one in self.stack().resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
        self.assertGreater(len(alarms), 8)
        for alarm in alarms:
            self.assertEqual(alarm["Properties"]["AlarmActions"], ["<AlarmTopic>"])

    def test_answers_of_500_and_above_ring_whatever_stands_in_front(self):
        for parameters, want in [
            ({}, ("AWS/Lambda", "Url5xxCount", "FunctionName", "<ForegroundFunction>")),
            (CAPACITY, ("AWS/Lambda", "Url5xxCount", "FunctionName", "<ForegroundOnInstances>")),
            ({"Entrance": "RestApi"}, ("AWS/ApiGateway", "5XXError", "ApiName", "tandem")),
        ]:
            resources = self.stack(**parameters).resources
            alarm = resources["ForegroundFaultsAlarm"]["Properties"]
            [dimension] = alarm["Dimensions"]
            self.assertEqual((alarm["Namespace"], alarm["MetricName"], dimension["Name"], dimension["Value"]), want)
            if "RestApi" in resources:
                self.assertEqual(resources["RestApi"]["Properties"]["Name"], dimension["Value"])

    def test_the_document_counts_alarms_and_metrics_as_they_are(self):
        alarms = [one["Properties"] for one in self.stack().resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
        read = [sum("MetricStat" in metric for metric in alarm.get("Metrics", [])) or 1 for alarm in alarms]
        text = (TOP / "docs/deploy.md").read_text()
        told = re.search(r"(\d+) alarms, one of which reads (\d+) metrics: (\d+) \* \$0\.10, and (\d+) metrics of the sweeper", text)
        sweeper = {"Sweeps", "DueRuns", "SweepFaults"}
        self.assertEqual(tuple(map(int, told.groups())), (len(alarms), max(read), sum(read), len(sweeper & metrics.written())))
        dollars = sum(read) * 0.10 + len(sweeper) * 0.30
        further = re.search(r"= \$([\d.]+); and \$0\.30 for each further one that there is something to write of, (\d+) and", text)
        self.assertEqual((float(further[1]), int(further[2])), (round(dollars, 2), len(metrics.written() - sweeper)))

    def test_every_alarm_is_explained(self):
        text = (TOP / "docs/operate.md").read_text()
        for name, resource in template()["Resources"].items():
            if resource["Type"] == "AWS::CloudWatch::Alarm":
                self.assertIn(f"`{name}`", text)
        # And what to do is a command, a click, or a way to one.
        rows = [row.strip("| ").split(" | ") for row in text.splitlines() if re.match(r"\| `\w+Alarm`", row)]
        self.assertGreater(len(rows), 8)
        for name, *_, do in rows:
            self.assertRegex(do, r"`make |\]\(|\*[A-Z][^*]*, [^*]*\*|tandem doctor", name)

    def test_what_alarms_and_the_dashboard_read_is_written_and_explained(self):
        resources = self.stack().resources
        namespace = resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]["METRICS_NAMESPACE"]
        self.assertEqual(namespace, "Tandem/tandem")
        alarms = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
        read = {alarm["MetricName"] for alarm in alarms if alarm.get("Namespace") == namespace}
        dashboard = json.loads(resources["Dashboard"]["Properties"]["DashboardBody"])
        shown = [metric for one in dashboard["widgets"] for metric in one["properties"].get("metrics", [])]
        read |= {metric[1] for metric in shown if metric[0] == namespace}
        self.assertLessEqual(read, metrics.written())
        text = (TOP / "docs/operate.md").read_text()
        self.assertEqual([name for name in metrics.written() if f"`{name}`" not in text], [])

    def test_without_alarms_there_are_no_metrics(self):
        variables = self.stack(Alarms="false").resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
        self.assertEqual(variables["METRICS_NAMESPACE"], "")

    def test_the_dashboard_is_json(self):
        stack = self.stack()
        body = json.loads(stack.resources["Dashboard"]["Properties"]["DashboardBody"])
        taken = {(one["x"], one["y"]) for one in body["widgets"]}
        self.assertEqual(len(taken), len(body["widgets"]))


if __name__ == "__main__":
    unittest.main()
